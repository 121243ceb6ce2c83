/** The interface deletes no more at once, all or none. */
export const mostAtOnce = 5_000;

/** The query of those updates of a list that may be deleted: the closed ones. */
export const closedOf = (q: string | undefined): string => (q === undefined ? "active==false" : `(${q});active==false`);

/** Why so many cannot be deleted now. */
export function lacksOf(closed: number | undefined): "reading" | "none" | "many" | undefined {
  if (closed === undefined) return "reading";
  if (closed === 0) return "none";
  return closed > mostAtOnce ? "many" : undefined;
}
