/** A type of modules, as far as sets mind it. */
export interface Kind {
  readonly key: string;
  readonly name: string;
  /** A set holds at most so many modules of it. */
  readonly maxAssignments: number;
}

/** The types of modules that a type of sets takes. */
export interface Kinds {
  readonly mandatory: readonly Kind[];
  readonly optional: readonly Kind[];
}

/** A module by its number, with the key of its type. */
export interface Chosen {
  readonly id: number;
  readonly type: string;
}

const ofKind = ({ key }: Kind, chosen: readonly Chosen[]) => chosen.filter(({ type }) => type === key);

/** Chooses a module, or no longer. Where a set holds one of its type, it takes the place of the other. */
export function withModule(chosen: readonly Chosen[], kind: Kind, id: number, on: boolean): readonly Chosen[] {
  const others = chosen.filter((one) => one.id !== id && (kind.maxAssignments > 1 || one.type !== kind.key));
  return on ? [...others, { id, type: kind.key }] : others;
}

/** Whether a set holds as many modules of a type as it may. */
export const isFull = (kind: Kind, chosen: readonly Chosen[]): boolean => ofKind(kind, chosen).length >= kind.maxAssignments;

/** What of the chosen modules a set of the type takes. */
export function fitting(chosen: readonly Chosen[], { mandatory, optional }: Kinds): readonly Chosen[] {
  const keys = new Set([...mandatory, ...optional].map(({ key }) => key));
  return chosen.filter(({ type }) => keys.has(type));
}

/** The types that a set needs, and of which it has no module. */
export const missingOf = ({ mandatory }: Kinds, chosen: readonly Chosen[]): readonly Kind[] =>
  mandatory.filter((kind) => ofKind(kind, chosen).length === 0);

/** What of a set goes when a module of the type comes: a set that holds one of it changes the one for the other. */
export const replacedBy = <T extends Chosen>(kind: Kind | undefined, held: readonly T[]): T | undefined =>
  kind?.maxAssignments === 1 ? held.find(({ type }) => type === kind.key) : undefined;
