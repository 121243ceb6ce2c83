/** What may stand behind `type`, and the noun that it means. */
export const typeNouns: Readonly<Record<string, string>> = {
  device: "targettype",
  devices: "targettype",
  target: "targettype",
  targets: "targettype",
  set: "settype",
  sets: "settype",
  module: "moduletype",
  modules: "moduletype",
};

/** Those of them that completion offers. */
export const offeredTypes = ["device", "module", "set"] as const;

/**
 * Puts the whole words in the place of short forms of two words: `dev` alone starts a server to develop with, with a verb behind it it is `device`; and
 * `type set list` is `settype list`.
 */
export function inFull(words: readonly string[]): readonly string[] {
  const [first = "", second, ...rest] = words;
  if (first === "dev" && second !== undefined && !second.startsWith("-")) return ["device", second, ...rest];
  const type = /^types?$/.test(first) && second !== undefined && Object.hasOwn(typeNouns, second) ? typeNouns[second] : undefined;
  return type === undefined ? words : [type, ...rest];
}
