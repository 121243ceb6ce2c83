/** What can be done with many devices at once (contract console.md, M16). */
export const bulkActions = [
  "addTag",
  "removeTag",
  "setType",
  "removeType",
  "assignSet",
  "cancelActions",
  "requestAttributes",
  "activateAutoConfirm",
] as const;
export type BulkAction = (typeof bulkActions)[number];

export interface BulkDraft {
  readonly action: BulkAction;
  readonly tag: string;
  readonly type: string;
  readonly set: string;
  readonly force: string;
}

/** Devices that were chosen one by one, or all that a query means: these are never listed. */
export type Many = { readonly ids: readonly string[] } | { readonly q: string; readonly total: number };

export const numberOf = (many: Many): number => ("ids" in many ? many.ids.length : many.total);

/** So many may be moved without typing their number. */
export const untypedMost = 10;

/** Whether the number of devices must be typed first, because they begin or end an update. */
export const isTyped = (action: BulkAction, number: number): boolean =>
  number > untypedMost && (action === "assignSet" || action === "cancelActions");

/** What a change still lacks. */
export function lacksOf(draft: BulkDraft, number: number, typed: string): "tag" | "type" | "set" | "number" | undefined {
  const { action } = draft;
  if ((action === "addTag" || action === "removeTag") && draft.tag === "") return "tag";
  if (action === "setType" && draft.type === "") return "type";
  if (action === "assignSet" && draft.set === "") return "set";
  return isTyped(action, number) && typed !== String(number) ? "number" : undefined;
}

/** The body of the request that the draft stands for; by a query the server changes nothing unless exactly so many match. */
export function bulkBody({ action, tag, type, set, force }: BulkDraft, many: Many) {
  return {
    action,
    ...("ids" in many ? { controllerIds: [...many.ids] } : { q: many.q, confirm: many.total }),
    ...((action === "addTag" || action === "removeTag") && { tagId: Number(tag) }),
    ...(action === "setType" && { targetTypeId: Number(type) }),
    ...(action === "assignSet" && { distributionSetId: Number(set), type: force as "forced" | "soft" | "downloadonly" }),
  };
}
