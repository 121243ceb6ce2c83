/** A word of a command line, in quotes where the shell would take it for something else. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) && (text === "--" || !text.startsWith("-")) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** Words of a command line; an option that has no value is left out with its name. */
export function commandLine(words: readonly (string | readonly [option: string, value: string | undefined])[]): string {
  const written = words.map((word) => {
    if (typeof word === "string") return shellWord(word);
    return word[1] === undefined ? "" : `${word[0]} ${shellWord(word[1])}`;
  });
  return written.filter((word) => word !== "").join(" ");
}

/** The same request for `curl`, which asks for the password of whoever is signed in. */
export const curlOf = (url: string, { tenant, username }: { tenant: string; username: string }): string =>
  commandLine(["curl", ["-sS -u", `${tenant}\\${username}`], url]);
