import { statement } from "@harrier/db";

export const stageTargets = statement<
  [
    tenantId: number,
    importId: string,
    firstId: number,
    lines: number[],
    controllerIds: string[],
    names: string[],
    descriptions: (string | null)[],
    addresses: (string | null)[],
    digests: Buffer[],
    ciphers: Buffer[],
    types: (number | null)[],
  ],
  never
>(
  "controller.stage_targets",
  "select stage_targets($1, $2, $3, $4::int[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bytea[], $10::bytea[], $11::bigint[])",
);

export interface ImportProblem {
  line: number;
  controllerId: string;
  type: number | null;
  code: string;
}

export type ImportAnswer =
  | { outcome: "ok"; created: number; failed: number; problems: ImportProblem[] }
  | { outcome: "quota"; good: number };

/** Creates targets of all lines of an import, or of none; with `skip` of those that are valid. */
export const finishImport = statement<
  [
    tenantId: number,
    tenant: string,
    importId: string,
    skip: boolean,
    discard: boolean,
    scope: number[] | null,
    by: string,
    traceparent: string | null,
    max: number,
  ],
  { answer: ImportAnswer }
>("controller.finish_import", "select finish_import($1, $2, $3, $4, $5, $6::bigint[], $7, $8, $9) as answer");
