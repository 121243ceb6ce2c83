import { actionStatus } from "@harrier/contracts";

/**
 * Is true if the last maintenance window of an open action has passed, so that it has to be cancelled (contract device.md §3.1.4), and null if it has
 * no last one.
 */
export const expiredWindowSql = (action: string): string =>
  `(${action}.maintenance_ends_at <= now() and ${action}.status <> ${actionStatus.CANCELING})`;

/** The window of an action as one value, a `MaintenanceWindow`; null without one, which costs its reader nothing. */
export const maintenanceSql = (action: string): string =>
  `case when ${action}.maintenance_schedule is not null then json_build_object('schedule', ${action}.maintenance_schedule, 'duration', ${action}.maintenance_duration, 'timezone', ${action}.maintenance_timezone) end`;
