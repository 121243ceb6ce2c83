import { usage } from "../exit.ts";

type Step = { readonly member: string } | { readonly index: number } | "all";

/** Parses `{.a.b[0].c}` or `{.content[*].id}`, the part of JSONPath that scripts use; anything else is a wrong usage. */
export function parsePath(text: string): readonly Step[] {
  const inner = /^\{?\$?(.*?)\}?$/.exec(text)?.[1] ?? "";
  const steps: Step[] = [];
  const pattern = /\.([\w-]+)|\[(\d+)\]|\[\*\]|\['([^']+)'\]/y;
  while (pattern.lastIndex < inner.length) {
    const from = pattern.lastIndex;
    const found = pattern.exec(inner);
    if (found === null) throw usage(`jsonpath: cannot read ${inner.slice(from)}; use .member, [0] and [*]`);
    const name = found[1] ?? found[3];
    steps.push(name !== undefined ? { member: name } : found[2] !== undefined ? { index: Number(found[2]) } : "all");
  }
  return steps;
}

/** Answers all values that the path leads to. */
export function evaluatePath(path: readonly Step[], value: unknown): unknown[] {
  let found = [value];
  for (const step of path) {
    found = found.flatMap((at) => {
      if (at === null || typeof at !== "object") return [];
      if (step === "all") return Object.values(at);
      const next =
        "member" in step
          ? Object.hasOwn(at, step.member)
            ? (at as Record<string, unknown>)[step.member]
            : undefined
          : (at as unknown[])[step.index];
      return next === undefined ? [] : [next];
    });
  }
  return found;
}
