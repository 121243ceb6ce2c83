import { statement } from "@harrier/db";
import { autoclose, confirmationFlow } from "../settings/present-settings.sql.ts";

export interface AssignAnswer {
  outcome: "ok" | "incompatible" | "quota" | "open" | "notEnabled";
  already?: number;
  actions?: { id: number; controllerId: string }[];
  controllerId?: string;
  /** The maximum of open actions that a target may have side by side; only with `open`. */
  limit?: number;
}

/** One list for each member of the assigned items. */
type ItemLists = [
  forceTypes: number[],
  forceTimes: (Date | null)[],
  weights: number[],
  schedules: (string | null)[],
  durations: (string | null)[],
  timezones: (string | null)[],
  windowsEnds: (Date | null)[],
  confirmationsRequired: boolean[],
];

/** The policies as one JSON array, and for each item which of them, from 1; null for none. */
type Policies = [safeties: string | null, places: (number | null)[]];

/** What every assignment ends with. */
type Rest = [firstId: number, maxActions: number, scope: number[] | null, initiator: string, traceparent: string | null];

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
    ...items: ItemLists,
    ...rest: Rest,
    ...policies: Policies,
  ],
  { answer: AssignAnswer }
>(
  "controller.assign_set",
  `select case when several_assignments($1)
          then assign_several($1, $2, $3, array[$4::bigint], array[$5::text], array[$6::text], array[$7::bigint], array[$8::boolean],
                              $9::text[], array_fill(1, array[cardinality($9::text[])]), $10::smallint[], $11::timestamptz[], $12::int[],
                              $13::text[], $14::text[], $15::text[], $16::timestamptz[], $17::boolean[],
                              $18, $19, ${confirmationFlow}, $20::bigint[], $21, $22, $23, $24::int[])
          else assign_set($1, $2, $3, $4, $5, $6, $7, $8, $9::text[], $10::smallint[], $11::timestamptz[], $12::int[],
                          $13::text[], $14::text[], $15::text[], $16::timestamptz[], $17::boolean[],
                          $18, $19, ${autoclose}, ${confirmationFlow}, $20::bigint[], $21, $22, $23, $24::int[]) end as answer`,
);

/** Assigns several sets, each item with the place of its own, from 1; rejected where the tenant has one assignment at a time. */
export const assignSets = statement<
  [
    tenantId: number,
    tenant: string,
    commandId: string,
    setIds: number[],
    setNames: string[],
    setVersions: string[],
    setTypes: number[],
    migrationSteps: boolean[],
    controllerIds: string[],
    places: number[],
    ...items: ItemLists,
    ...rest: Rest,
    ...policies: Policies,
  ],
  { answer: AssignAnswer }
>(
  "controller.assign_sets",
  `select assign_several($1, $2, $3, $4::bigint[], $5::text[], $6::text[], $7::bigint[], $8::boolean[], $9::text[], $10::int[],
                         $11::smallint[], $12::timestamptz[], $13::int[], $14::text[], $15::text[], $16::text[], $17::timestamptz[],
                         $18::boolean[], $19, $20, ${confirmationFlow}, $21::bigint[], $22, $23, $24, $25::int[]) as answer`,
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
    ...rest: Rest,
  ],
  { answer: AssignAnswer }
>(
  "controller.assign_offline",
  "select assign_offline($1, $2, $3, $4, $5, $6, $7, $8, $9::text[], $10, $11, $12::bigint[], $13, $14) as answer",
);
