import { expect, it } from "vitest";
import { routes } from "../routes.ts";
import { auditKeysOnly, auditNamesOnly, auditNotes } from "./audit-notes.ts";

const changing = new Map(routes.filter(({ interface: of, method }) => of === "management" && method !== "GET").map((row) => [row.id, row]));

it("the audit trail is told of bodies of changing routes alone", () => {
  for (const id of [...Object.keys(auditNotes), ...auditNamesOnly, ...auditKeysOnly]) expect(changing.has(id), id).toBe(true);
});

it("of no member that holds a secret", () => {
  for (const [id, members] of Object.entries(auditNotes))
    for (const name of members) expect(`${id} ${name}`).not.toMatch(/password|token|secret|hash|\bkey\b|value/i);
});
