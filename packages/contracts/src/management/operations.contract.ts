import { z } from "zod";
import { links } from "../link.ts";
import { pageOf, pageQuery } from "../paging.ts";
import { ok, routesOf } from "../route.ts";
import { pathId } from "../values.ts";
import { listErrors } from "./common.ts";

/** Work that goes on after its request was answered (contract extensions.md). `total` is absent until it is known. */
export const operationView = z
  .object({
    id: z.int(),
    kind: z.enum(["delete-tenant", "invalidate-set", "delete-targets", "change-targets"]),
    /** The subject is the name of the tenant, name and version of the set, the query of the targets, or what is changed of them. */
    subject: z.string(),
    status: z.enum(["waiting", "running", "finished"]),
    done: z.int(),
    total: z.int().optional(),
    /** Why its work fails; it is retried until it ends. */
    lastError: z.string().optional(),
    /** Targets that a change has not reached, and the first hundred of those that have a name. */
    failed: z.int().optional(),
    failures: z.array(z.object({ controllerId: z.string(), reason: z.string() }).meta({ id: "OperationFailure" })).optional(),
    createdBy: z.string(),
    createdAt: z.int(),
    startedAt: z.int().optional(),
    endedAt: z.int().optional(),
    _links: links("self"),
  })
  .meta({ id: "Operation" });
export type OperationView = z.output<typeof operationView>;

/**
 * The operations of the caller's tenant. They need no permission of their own: everybody sees the kinds that they may begin, which only the owner
 * of the rows can decide.
 */
export const operations = routesOf(
  "operations",
  { service: "management", interface: "management", source: "contract extensions.md" },
  {
    list: {
      method: "GET",
      path: "/operations",
      query: pageQuery,
      success: ok,
      response: pageOf(operationView),
      permission: [],
      errors: listErrors,
      summary: "List background operations that the caller might have begun",
    },
    get: {
      method: "GET",
      path: "/operations/:operationId",
      params: z.object({ operationId: pathId }),
      success: ok,
      response: operationView,
      permission: [],
      errors: ["entityNotFound"],
      summary: "Get a background operation and how far it is",
    },
  },
);
