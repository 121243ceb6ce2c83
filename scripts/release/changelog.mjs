const heading = "## Unreleased\n";

/**
 * Makes what is unreleased the section of a version, and answers the whole changelog and that section (for the notes of the release).
 * @param {string} changelog
 * @param {string} version
 * @param {string} date year-month-day
 */
export function releaseSection(changelog, version, date) {
  const at = changelog.indexOf(heading);
  if (at < 0) throw new Error('CHANGELOG.md has no section "## Unreleased"');
  const from = at + heading.length;
  const next = changelog.indexOf("\n## ", from);
  const end = next < 0 ? changelog.length : next + 1;
  const body = changelog
    .slice(from, end)
    .replace(/^Nothing has been released yet.*\n/m, "")
    .trim();
  if (body === "") throw new Error("CHANGELOG.md says nothing under Unreleased");
  const section = `## ${version} (${date})\n\n${body}\n`;
  const rest = changelog.slice(end);
  return { changelog: `${changelog.slice(0, from)}\n${section}${rest === "" ? "" : `\n${rest}`}`, section };
}
