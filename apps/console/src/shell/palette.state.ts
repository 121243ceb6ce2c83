import { conditionOf } from "../devices/devices.state.ts";
import { findQuery } from "../software/find.state.ts";

/** One line of the palette: where it leads, and what it is called. */
export interface Jump {
  readonly id: string;
  readonly group: string;
  readonly label: string;
  readonly beside?: string | undefined;
  readonly to: string;
  /** The query of a list. */
  readonly q?: string | undefined;
}

/** What the search of the server answers: lists by kind, each item with an id, and perhaps a version. */
export type Found = Readonly<Record<string, readonly FoundItem[] | undefined>>;
interface FoundItem {
  readonly id?: number;
  readonly controllerId?: string;
  readonly name?: string;
  readonly version?: string;
}

const leadsTo: Readonly<Record<string, (item: FoundItem) => Pick<Jump, "to" | "q">>> = {
  targets: ({ controllerId = "" }) => ({ to: `/devices/${encodeURIComponent(controllerId)}` }),
  rollouts: ({ id }) => ({ to: `/rollouts/${id}` }),
  distributionSets: ({ id }) => ({ to: `/software/sets/${id}` }),
  softwareModules: ({ id }) => ({ to: `/software/modules/${id}` }),
  targetFilters: ({ id }) => ({ to: `/filters/${id}` }),
  targetTags: ({ name = "" }) => ({ to: "/devices", q: conditionOf("tag", name) }),
  distributionSetTags: ({ name = "" }) => ({ to: "/software", q: findQuery({ text: "", tag: name }) }),
};

/** Whether a label, or a word of it, begins with the text. */
export const isMeant = (label: string, text: string): boolean => ` ${label}`.toLowerCase().includes(` ${text}`.toLowerCase());

/** Of what was found by an earlier text, that which begins with this one too, as the server compares names. */
export function stillFound(found: Found, text: string): Found {
  const begins = (name: string | undefined) => name?.toLowerCase().startsWith(text.toLowerCase()) === true;
  const isStill = ({ name, controllerId }: FoundItem) => begins(name) || begins(controllerId);
  return Object.fromEntries(Object.entries(found).map(([kind, items]) => [kind, items?.filter(isStill)]));
}

/** What the lines are of. */
export interface Lines {
  /** Pages come first: they are known at once. */
  readonly pages: number;
  readonly lines: readonly Jump[];
  /** The server has answered to the text as it is typed. */
  readonly isKnown: boolean;
}

/** The place of the line that the keys went to; the first one, if they went to none that is there. */
export const placeOf = ({ lines }: Lines, chosen: string | undefined): number =>
  Math.max(
    0,
    lines.findIndex(({ id }) => id === chosen),
  );

/** Whether Enter may jump already: to a page, to the line that the keys went to, or else to what is found by the whole text. */
export function mayJump(all: Lines, chosen: string | undefined): boolean {
  const at = placeOf(all, chosen);
  return all.isKnown || at < all.pages || (chosen !== undefined && all.lines[at]?.id === chosen);
}

/** Makes lines of what was found, kind by kind; kinds that have no page are left out. */
export function jumpsOf(found: Found, kinds: Readonly<Record<string, string>>): Jump[] {
  return Object.entries(kinds).flatMap(([kind, group]) =>
    (found[kind] ?? []).map((item) => {
      const name = item.name ?? item.controllerId ?? "";
      const beside = item.version ?? (item.controllerId !== name ? item.controllerId : undefined);
      return { id: `${kind}-${item.id ?? item.controllerId}`, group, label: name, beside, ...(leadsTo[kind]?.(item) ?? { to: "/" }) };
    }),
  );
}
