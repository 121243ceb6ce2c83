import { z } from "zod";
import { updateStatusNames } from "../codes.ts";
import { audit, links } from "../link.ts";
import { pageOf } from "../paging.ts";
import { actionStatusWords } from "./action-view.ts";
import { namedSet, namedTag } from "./named.ts";

/** The open action of a target that its device is offered first; `since` is when it was created (contract console.md §1, M03). */
export const openActionView = z
  .object({ id: z.int(), detailStatus: z.enum(actionStatusWords), since: z.int(), rolloutId: z.int().optional() })
  .meta({ id: "OpenAction" });

/** When a target polled last; absent before its first poll (contract management.md §4.6). */
export const pollStatusView = z
  .object({ lastRequestAt: z.int(), nextExpectedRequestAt: z.int(), overdue: z.boolean() })
  .meta({ id: "PollStatus" });

/** A target (spec 001 §2.4); only single answers have links besides `self` (contract management.md §1.5). */
export const targetView = z
  .object({
    ...audit,
    controllerId: z.string(),
    name: z.string(),
    description: z.string().optional(),
    group: z.string().optional(),
    updateStatus: z.enum(updateStatusNames),
    lastControllerRequestAt: z.int().optional(),
    installedAt: z.int().optional(),
    ipAddress: z.string().optional(),
    address: z.string().optional(),
    pollStatus: pollStatusView.optional(),
    securityToken: z.string().optional().meta({ description: "Only for callers with READ_TARGET_SECURITY_TOKEN" }),
    requestAttributes: z.boolean(),
    targetType: z.int().optional(),
    targetTypeName: z.string().optional(),
    assignedSet: namedSet.optional(),
    installedSet: namedSet.optional(),
    openAction: openActionView.optional(),
    tags: z.array(namedTag).optional(),
    autoConfirmActive: z.boolean().optional().meta({ description: "Only where the tenant's confirmation flow is on" }),
    _links: links("self", "assignedDS", "installedDS", "attributes", "actions", "metadata", "targetType", "autoConfirm"),
  })
  .meta({ id: "Target" });
export const targetPage = pageOf(targetView);
export type TargetView = z.output<typeof targetView>;

/** Whether a target has auto-confirmation, and who activated it (contract management.md §4.6); only active auto-confirmation has details. */
export const autoConfirmView = z
  .object({
    active: z.boolean(),
    initiator: z.string().optional(),
    remark: z.string().optional(),
    activatedAt: z.int().optional(),
    _links: links("activate", "deactivate"),
  })
  .meta({ id: "AutoConfirm" });
export type AutoConfirmView = z.output<typeof autoConfirmView>;
