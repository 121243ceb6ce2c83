import { quoted } from "../fiql/complete.ts";

/** What software is looked for by. */
export interface Wanted {
  /** A part of the name. */
  readonly text: string;
  /** The name of a tag. */
  readonly tag: string;
}

/** The query of what is looked for; none if everything is. A star stands for anything in a name, and for itself in a tag. */
export function findQuery({ text, tag }: Wanted): string | undefined {
  const name = text.trim() === "" ? [] : [`name==${quoted(`*${text.trim()}*`)}`];
  const parts = [...name, ...(tag === "" ? [] : [`tag==${quoted(tag.replaceAll("*", "\\*"))}`])];
  return parts.length === 0 ? undefined : parts.join(";");
}

const value = String.raw`("(?:[^"\\]|\\.)*"|[^"'();,=!~<> ]+)`;
const form = new RegExp(`^(?:name==${value})?(?:(?:^|;)tag==${value})?$`);
const plain = (written = "") => (written.startsWith('"') ? written.slice(1, -1).replaceAll(/\\(.)/g, "$1") : written);

/** What a query of this form looks for; another, which somebody wrote by hand, stays as it is in the address. */
export function readQuery(q: string | undefined): Wanted {
  const [, name, tag] = form.exec(q ?? "") ?? [];
  return { text: plain(name).replaceAll(/^\*|\*$/g, ""), tag: plain(tag).replaceAll("\\*", "*") };
}
