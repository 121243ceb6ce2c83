import { entityCodes } from "./entity-codes.ts";
import { featureCodes } from "./feature-codes.ts";
import type { ErrorRow } from "./row.ts";
import { transportCodes } from "./transport-codes.ts";

/**
 * The one error table: every error that leaves a service has a row here, with its form on each interface and dialect. The sources are contract
 * device.md §10.2, management.md §2.2, rollouts.md §1, clients.md "Two dialects".
 */
const table = { ...entityCodes, ...featureCodes, ...transportCodes } as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof table;

export const codes: Readonly<Record<ErrorCode, ErrorRow>> = table;

/** Whether `value` names a row of the table; it is used where an error arrives as text. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(table, value);
}
