/** One line of the palette: where it leads, and what it is called. */
export interface Jump {
  readonly id: string;
  readonly group: string;
  readonly label: string;
  readonly beside?: string | undefined;
  readonly to: string;
}

/** What the search of the server answers: lists by kind, each item with an id, and perhaps a version. */
export type Found = Readonly<Record<string, readonly FoundItem[] | undefined>>;
interface FoundItem {
  readonly id?: number;
  readonly controllerId?: string;
  readonly name?: string;
  readonly version?: string;
}

const pathOf: Readonly<Record<string, (item: FoundItem) => string>> = {
  targets: ({ controllerId = "" }) => `/devices/${encodeURIComponent(controllerId)}`,
  rollouts: ({ id }) => `/rollouts/${id}`,
  distributionSets: ({ id }) => `/software/sets/${id}`,
  softwareModules: ({ id }) => `/software/modules/${id}`,
  targetFilters: ({ id }) => `/filters/${id}`,
};

/** Makes lines of what was found, kind by kind; kinds that have no page are left out. */
export function jumpsOf(found: Found, kinds: Readonly<Record<string, string>>): Jump[] {
  return Object.entries(kinds).flatMap(([kind, group]) =>
    (found[kind] ?? []).map((item) => {
      const name = item.name ?? item.controllerId ?? "";
      const beside = item.version ?? (item.controllerId !== name ? item.controllerId : undefined);
      return { id: `${kind}-${item.id ?? item.controllerId}`, group, label: name, beside, to: pathOf[kind]?.(item) ?? "/" };
    }),
  );
}
