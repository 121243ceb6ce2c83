/** What documents and does not bind; examples and patterns are compared apart. */
const words = new Set(["description", "title", "$id", "id"]);

/** Returns what a consumer of the committed schema would notice. */
export function breaksOf(before, after, path = "") {
  if (before === undefined) return [];
  if (typeof before !== "object" || before === null || Array.isArray(before)) {
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [`${path}: ${JSON.stringify(before)} became ${JSON.stringify(after)}`];
  }
  if (after === null || typeof after !== "object") return [`${path} is gone`];
  const found = [];
  for (const [key, value] of Object.entries(before)) {
    const here = `${path}/${key}`;
    if (words.has(key) && typeof value === "string") continue;
    if (key === "examples") {
      const gone = value.filter((word) => !(after.examples ?? []).includes(word));
      if (gone.length > 0) found.push(`${here}: without ${gone.join(", ")}`);
    } else if (key === "required") {
      const gone = value.filter((name) => !(after.required ?? []).includes(name));
      if (gone.length > 0) found.push(`${here}: ${gone.join(", ")} may be absent now`);
    } else if (Array.isArray(value) && value.some((one) => typeof one === "object")) {
      for (const [i, one] of value.entries()) found.push(...breaksOf(one, after[key]?.[i], `${here}/${i}`));
      if (after[key]?.length !== value.length) found.push(`${here}: ${value.length} alternatives became ${after[key]?.length ?? 0}`);
    } else found.push(...breaksOf(value, after[key], here));
  }
  // a keyword that was not there restricts what was allowed; a member that was not there is an addition
  const members = path.endsWith("/properties") || path.endsWith("/$defs");
  const known = new Set([...words, "required", "examples", ...Object.keys(before)]);
  if (!members) for (const key of Object.keys(after)) if (!known.has(key)) found.push(`${path}/${key} is new and restricts`);
  return found;
}
