// What the search box means: text that is contained, or /a regular expression/.

export type Matcher = {
  /** Whether any of the names is meant. */
  test: (...names: string[]) => boolean;
  all: boolean; error: string;
};

export function matcher(q: string): Matcher {
  const re = /^\/(.+)\/(i?)$/.exec(q), low = q.toLowerCase();
  let one = (s: string) => s.toLowerCase().includes(low), error = "";
  if (re) {
    try {
      const compiled = new RegExp(re[1], re[2]);
      one = (s) => compiled.test(s);
    } catch (e) {
      one = () => false;
      error = (e as Error).message;
    }
  }
  return { test: (...names) => names.some(one), all: q === "", error };
}
