// What the search box means: text that is contained, or /a regular expression/.

export type Matcher = { test: (s: string) => boolean; all: boolean; error: string };

export function matcher(q: string): Matcher {
  if (q === "") return { test: () => true, all: true, error: "" };
  const re = /^\/(.*)\/(i?)$/.exec(q);
  if (re && re[1] !== "") {
    try {
      const compiled = new RegExp(re[1], re[2]);
      return { test: (s) => compiled.test(s), all: false, error: "" };
    } catch (e) {
      return { test: () => false, all: false, error: (e as Error).message };
    }
  }
  const low = q.toLowerCase();
  return { test: (s) => s.toLowerCase().includes(low), all: false, error: "" };
}
