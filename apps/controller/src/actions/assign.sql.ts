import { statement } from "@harrier/db";
import { autoclose } from "./autoclose.sql.ts";

export interface AssignAnswer {
  outcome: "ok" | "incompatible" | "quota";
  already?: number;
  actions?: { id: number; controllerId: string }[];
  controllerId?: string;
}

export const assignSet = statement<
  [
    tenantId: number,
    tenant: string,
    commandId: string,
    setId: number,
    setName: string,
    setVersion: string,
    setType: number,
    migrationStep: boolean,
    controllerIds: string[],
    forceTypes: number[],
    forceTimes: (Date | null)[],
    weights: number[],
    firstId: number,
    maxActions: number,
    scope: number[] | null,
    initiator: string,
    traceparent: string | null,
  ],
  { answer: AssignAnswer }
>(
  "controller.assign_set",
  `select assign_set($1, $2, $3, $4, $5, $6, $7, $8, $9::text[], $10::smallint[], $11::timestamptz[], $12::int[], $13, $14, ${autoclose},
                     $15::bigint[], $16, $17) as answer`,
);
