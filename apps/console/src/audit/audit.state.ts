import type { AuditEntryView } from "@harrier/contracts";
import { quoted } from "../fiql/complete.ts";
import type { QueryField } from "../fiql/fields.ts";
import { auditNouns, auditVerbs } from "../text/en.ts";
import type { Sign } from "../ui/signs.ts";

/** How the result of a call is shown. */
export const resultSigns: Readonly<Record<AuditEntryView["result"], Sign>> = {
  SUCCESS: { sign: "✓", tone: "ok" },
  REFUSED: { sign: "⊘", tone: "deny" },
  FAILED: { sign: "✕", tone: "bad" },
  UNKNOWN: { sign: "?", tone: "warn" },
};

/** The fields of queries over the trail. */
export const auditFields: readonly QueryField[] = [
  { name: "actor", kind: "text" },
  { name: "action", kind: "text" },
  { name: "entity", kind: "text" },
  { name: "entityid", kind: "text" },
  { name: "result", kind: "word", words: ["SUCCESS", "REFUSED", "FAILED", "UNKNOWN"] },
  { name: "time", kind: "time" },
  { name: "sourceip", kind: "text" },
  { name: "requestid", kind: "text" },
];

/** The query of everything that was done with what an entry is about; of its kind where it names none. */
export function sameEntity({ entity, entityIds: [id] }: Pick<AuditEntryView, "entity" | "entityIds">): string {
  const kind = `entity==${quoted(entity)}`;
  return id === undefined ? kind : `${kind};entityid==${quoted(id)}`;
}

/** An entry as a sentence without its subject: what was done, and to what. */
export interface Told {
  readonly verb: string;
  readonly what: string;
  /** Its page, if it has one and is still there. */
  readonly to?: string;
  /** So many others were made at once. */
  readonly more: number;
}

const pages: Readonly<Record<string, string>> = {
  rollout: "/rollouts/",
  target: "/devices/",
  distributionSet: "/software/sets/",
  softwareModule: "/software/modules/",
  targetFilter: "/filters/",
  artifact: "/software/modules/",
  artifactUpload: "/software/modules/",
};

/** Tells an entry; undefined for what has no words yet. */
export function tell({ action, entity, entityIds }: Pick<AuditEntryView, "action" | "entity" | "entityIds">): Told | undefined {
  const operation = action.split(".")[1] ?? "";
  const verb = auditVerbs[action] ?? auditVerbs[operation];
  const noun = auditNouns[entity];
  const [id] = entityIds;
  if (verb === undefined || noun === undefined) return undefined;
  // What was refused has no number yet, and many at once have none.
  if (id === undefined) return noun === "" ? undefined : { verb, what: `${noun}s`, more: 0 };
  const page = pages[entity];
  const what = noun === "" ? id : `${noun} ${id}`;
  const isNew = operation === "create";
  const isThere = page !== undefined && (operation !== "delete" || noun === "");
  return { verb, what, ...(isThere && { to: page + encodeURIComponent(id) }), more: isNew ? entityIds.length - 1 : 0 };
}

const part = "artifactUploads.sendPart";

/** The query that is asked: the parts of uploads, of which a large file has hundreds, only where somebody wants or names them. */
export function withoutParts(q: string | undefined, parts: boolean): string | undefined {
  if (parts || q?.includes(part)) return q;
  return q === undefined ? `action!=${part}` : `(${q});action!=${part}`;
}
