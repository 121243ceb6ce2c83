/** A module of a set, as far as it is compared. */
export interface Part {
  readonly id: number;
  readonly name: string;
  readonly version: string;
  readonly type: string;
  readonly typeName?: string | undefined;
}

/** A file of a module. */
export interface File {
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
}

/** Two things that belong together, or one without the other. */
export interface Pair<T> {
  readonly first?: T | undefined;
  readonly second?: T | undefined;
}

export type Difference = "same" | "changed" | "onlyFirst" | "onlySecond";

/** How two differ that belong together. */
export function differenceOf<T>({ first, second }: Pair<T>, isSame: (first: T, second: T) => boolean): Difference {
  if (first === undefined) return "onlySecond";
  if (second === undefined) return "onlyFirst";
  return isSame(first, second) ? "same" : "changed";
}

/** Pairs what two lists hold: by the first of these keys that both share, then by the next one; what is left stands alone. */
function paired<T>(first: readonly T[], second: readonly T[], keys: readonly ((one: T) => string)[]): Pair<T>[] {
  const partners = new Map<T, T>();
  const taken = new Set<T>();
  for (const key of keys) {
    for (const one of first) {
      if (partners.has(one)) continue;
      const partner = second.find((other) => !taken.has(other) && key(other) === key(one));
      if (partner === undefined) continue;
      partners.set(one, partner);
      taken.add(partner);
    }
  }
  return [
    ...first.map((one): Pair<T> => ({ first: one, second: partners.get(one) })),
    ...second.filter((other) => !taken.has(other)).map((other): Pair<T> => ({ second: other })),
  ];
}

/** The modules of two sets: the same one, else another version of it, else one of the same type. */
export const pairModules = (first: readonly Part[], second: readonly Part[]): Pair<Part>[] =>
  paired(first, second, [({ id }) => String(id), ({ type, name }) => `${type} ${name}`, ({ type }) => type]);

/** The files of two modules: of the same name, else with the same bytes. */
export const pairFiles = (first: readonly File[], second: readonly File[]): Pair<File>[] =>
  paired(first, second, [({ name }) => name, ({ sha256 }) => sha256]);

export const sameModule = (first: Part, second: Part): boolean => first.id === second.id;
export const sameFile = (first: File, second: File): boolean => first.name === second.name && first.sha256 === second.sha256;
