import { expect, it } from "vitest";
import { routes } from "../routes.ts";
import { auditFields, auditKeysOnly, auditNamesOnly } from "./audit-fields.ts";

const changing = new Map(
  routes
    .filter(({ interface: of, method, onlyReads }) => of === "management" && method !== "GET" && onlyReads !== true)
    .map((row) => [row.id, row]),
);

it("only bodies of changing routes have audit fields", () => {
  for (const id of [...Object.keys(auditFields), ...auditNamesOnly, ...auditKeysOnly]) expect(changing.has(id), id).toBe(true);
});

it("no audit field is a member that holds a secret", () => {
  for (const [id, members] of Object.entries(auditFields))
    for (const name of members) expect(`${id} ${name}`).not.toMatch(/password|token|secret|hash|\bkey\b|value/i);
});
