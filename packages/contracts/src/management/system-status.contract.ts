import { z } from "zod";
import { ok, routesOf } from "../route.ts";

const job = z
  .object({
    name: z.string(),
    lastRunAt: z.int().optional(),
    failures: z.int(),
    lastError: z.string().optional(),
    lastErrorAt: z.int().optional(),
    backlog: z.int().optional(),
  })
  .meta({ id: "SystemJob" });

const node = z
  .object({
    id: z.string(),
    service: z.string(),
    host: z.string(),
    version: z.string(),
    startedAt: z.int(),
    seenAt: z.int(),
    up: z.boolean(),
    migration: z.string().optional(),
    outboxWaitingSince: z.int().optional(),
    jobs: z.array(job),
  })
  .meta({ id: "SystemNode" });

const queue = z.object({ kind: z.string(), waiting: z.int(), failing: z.int(), oldestAt: z.int() }).meta({ id: "SystemQueue" });

/** What runs in the installation, and how its background work is (contract console.md §3). */
export const systemStatusView = z.object({ at: z.int(), nodes: z.array(node), queues: z.array(queue) }).meta({ id: "SystemStatus" });
export type SystemStatusView = z.output<typeof systemStatusView>;

/** The status of the installation, for its operator. */
export const systemStatus = routesOf(
  "systemStatus",
  { service: "management", interface: "management", source: "contract console.md §3" },
  {
    get: {
      method: "GET",
      path: "/system/status",
      success: ok,
      response: systemStatusView,
      permission: ["SYSTEM_ADMIN"],
      errors: [],
      summary: "Get the processes of the installation, their background jobs and what waits",
    },
  },
);
