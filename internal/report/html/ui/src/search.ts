// What the search box means: text that is contained, or a regular expression, which is
// asked for by the button beside the box or written as /…/.

export type Matcher = {
  /** Whether any of the names is meant. */
  test: (...names: string[]) => boolean;
  all: boolean; error: string;
};

const closed = /^\/(.+)\/(i?)$/;

/** Whether text stands for an expression by its form alone. */
export const isClosed = (q: string) => closed.test(q);

/** The text in an expression that is written as /…/. */
export const inner = (q: string) => closed.exec(q)?.[1] ?? q;

export function matcher(q: string, re = false): Matcher {
  const low = q.toLowerCase();
  let one = (s: string) => s.toLowerCase().includes(low), error = "";
  if (q !== "" && (re || isClosed(q))) {
    try {
      const compiled = new RegExp(inner(q), closed.exec(q)?.[2] ?? "");
      one = (s) => compiled.test(s);
    } catch (e) {
      one = () => false;
      error = (e as Error).message;
    }
  }
  return { test: (...names) => names.some(one), all: q === "", error };
}
