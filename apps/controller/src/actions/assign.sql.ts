import { statement } from "@harrier/db";
import { confirmationFlow } from "../settings/confirmation-flow.sql.ts";
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
    schedules: (string | null)[],
    durations: (string | null)[],
    timezones: (string | null)[],
    windowsEnds: (Date | null)[],
    confirmationsRequired: boolean[],
    firstId: number,
    maxActions: number,
    scope: number[] | null,
    initiator: string,
    traceparent: string | null,
  ],
  { answer: AssignAnswer }
>(
  "controller.assign_set",
  `select assign_set($1, $2, $3, $4, $5, $6, $7, $8, $9::text[], $10::smallint[], $11::timestamptz[], $12::int[],
                     $13::text[], $14::text[], $15::text[], $16::timestamptz[], $17::boolean[],
                     $18, $19, ${autoclose}, ${confirmationFlow}, $20::bigint[], $21, $22) as answer`,
);

export const assignOffline = statement<
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
    firstId: number,
    maxActions: number,
    scope: number[] | null,
    initiator: string,
    traceparent: string | null,
  ],
  { answer: AssignAnswer }
>(
  "controller.assign_offline",
  "select assign_offline($1, $2, $3, $4, $5, $6, $7, $8, $9::text[], $10, $11, $12::bigint[], $13, $14) as answer",
);
