import { z } from "zod";
import { ok, routesOf } from "../route.ts";

/** A permission that exists, with what it allows. */
export const permissionInfoView = z
  .object({
    name: z.string(),
    area: z.enum(["targets", "software", "rollouts", "tenant", "installation"]),
    text: z.string(),
    targetRelated: z.boolean(),
    implies: z.array(z.string()),
  })
  .meta({ id: "PermissionInfo" });
export type PermissionInfoView = z.output<typeof permissionInfoView>;

/** The permissions of the interface, which are the same in every tenant. */
export const permissions = routesOf(
  "permissions",
  { service: "management", interface: "management", source: "contract console.md §3" },
  {
    list: {
      method: "GET",
      path: "/permissions",
      success: ok,
      response: z.array(permissionInfoView),
      permission: [],
      errors: [],
      summary: "List the permissions that there are",
    },
  },
);
