import { r } from "../api/client.ts";
import { system } from "../text/en.ts";

const t = system.parts;

/** The parts of the system's page; the search of the console leads to them too. */
export const systemParts = [
  { id: "tenants", label: t.tenants, needs: r.tenants.list },
  { id: "operations", label: t.operations, needs: r.operations.list },
  { id: "status", label: t.status, needs: r.systemStatus.get },
] as const;
export type SystemPart = (typeof systemParts)[number]["id"];
