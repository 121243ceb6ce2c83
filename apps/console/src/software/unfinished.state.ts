/** What this browser keeps of an upload until it is finished or given up: enough to know the file again. */
export interface Unfinished {
  readonly uploadId: string;
  readonly name: string;
  readonly size: number;
  /** The SHA-256 of the first MiB; undefined where the browser could not compute it. */
  readonly head: string | undefined;
}

/** Whose uploads they are, and to which module. */
export interface Place {
  readonly tenant: string;
  readonly username: string;
  readonly moduleId: number;
}

type Store = Pick<Storage, "getItem" | "setItem" | "removeItem">;

const keyOf = ({ tenant, username, moduleId }: Place): string => `harrier-uploads ${moduleId} ${tenant}\\${username}`;
/** So many are kept of a module; the server keeps them for a day. */
const kept = 20;

const isUnfinished = (one: unknown): one is Unfinished =>
  typeof one === "object" && one !== null && ["uploadId", "name"].every((key) => typeof (one as Record<string, unknown>)[key] === "string");

/** The uploads to a module that were begun in this browser and not ended. What cannot be read counts as none. */
export function unfinishedOf(store: Store, place: Place): readonly Unfinished[] {
  try {
    const found = JSON.parse(store.getItem(keyOf(place)) ?? "[]") as unknown;
    return Array.isArray(found) ? found.filter(isUnfinished) : [];
  } catch {
    return [];
  }
}

function keep(store: Store, place: Place, all: readonly Unfinished[]): void {
  if (all.length === 0) store.removeItem(keyOf(place));
  else store.setItem(keyOf(place), JSON.stringify(all.slice(-kept)));
}

/** Remembers an upload that has begun. */
export function remember(store: Store, place: Place, one: Unfinished): void {
  keep(store, place, [...unfinishedOf(store, place).filter(({ uploadId }) => uploadId !== one.uploadId), one]);
}

/** Forgets an upload that has ended. */
export function forget(store: Store, place: Place, uploadId: string): void {
  keep(
    store,
    place,
    unfinishedOf(store, place).filter((one) => one.uploadId !== uploadId),
  );
}

/** Whether a file is the one whose upload was begun, as far as its name, its size and its first MiB say. */
export const isSameFile = (one: Unfinished, file: { readonly name: string; readonly size: number }, head: string | undefined): boolean =>
  one.name === file.name && one.size === file.size && (one.head === undefined || head === undefined || one.head === head);
