const shape = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

/** The parts of a version (semver 2.0.0, without build metadata); undefined if it is none. */
export function parseVersion(text) {
  const found = shape.exec(text);
  if (found === null) return undefined;
  const before = found[4]?.split(".") ?? [];
  if (before.some((part) => /^0\d+$/.test(part))) return undefined;
  return { numbers: found.slice(1, 4).map(Number), before };
}

function compareBefore(a, b) {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (const [at, left] of a.entries()) {
    const right = b[at];
    if (right === undefined) return 1;
    if (left === right) continue;
    const [isNumber, isOtherNumber] = [/^\d+$/.test(left), /^\d+$/.test(right)];
    if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
    return isNumber ? Number(left) - Number(right) : left < right ? -1 : 1;
  }
  return a.length - b.length;
}

/** Whether a version comes after another one; a release comes after what is before it (`1.0.0-rc.1`). */
export function isAfter(next, present) {
  const [a, b] = [parseVersion(next), parseVersion(present)];
  for (const [at, number] of a.numbers.entries()) if (number !== b.numbers[at]) return number > b.numbers[at];
  return compareBefore(a.before, b.before) > 0;
}
