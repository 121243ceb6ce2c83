const lineWidth = 140; // It equals that of biome.json, so that generated files look as the others.

/** Prints a value as the generated JSON files have it, with a line break at the end. */
export const printJson = (value) => `${print(value, "", 0)}\n`;

// Prints JSON with an indent of two blanks, but an array of scalars on one line where it fits; `used` counts the characters on its line, with the
// comma behind it.
function print(value, indent, used) {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Array.isArray(value) ? value : Object.entries(value).filter(([, member]) => member !== undefined);
  if (members.length === 0) return Array.isArray(value) ? "[]" : "{}";
  const deeper = `${indent}  `;
  const comma = (at) => (at < members.length - 1 ? 1 : 0);
  if (!Array.isArray(value)) {
    const lines = members.map(([key, member], at) => {
      const start = `${deeper}${JSON.stringify(key)}: `;
      return `${start}${print(member, deeper, start.length + comma(at))}`;
    });
    return `{\n${lines.join(",\n")}\n${indent}}`;
  }
  const oneLine = `[${members.map((member) => JSON.stringify(member)).join(", ")}]`;
  const scalars = members.every((member) => member === null || typeof member !== "object");
  if (scalars && used + oneLine.length <= lineWidth) return oneLine;
  return `[\n${members.map((member, at) => `${deeper}${print(member, deeper, deeper.length + comma(at))}`).join(",\n")}\n${indent}]`;
}
