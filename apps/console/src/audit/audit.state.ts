import type { AuditEntryView } from "@harrier/contracts";
import { quoted } from "../fiql/complete.ts";
import type { QueryField } from "../fiql/fields.ts";
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
