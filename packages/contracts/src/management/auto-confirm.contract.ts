import { z } from "zod";
import { bodiless, ok, routesOf } from "../route.ts";
import { lookedUpText, optionalText, withoutNulls } from "../values.ts";
import { autoConfirmView } from "./target-view.ts";

const params = z.object({ targetId: lookedUpText });
const path = "/targets/:targetId/autoConfirm";

/** Who activates auto-confirmation and why; the body may be missing, and an empty text counts as none (contract management.md §4.6, §1.6). */
export const autoConfirmActivation = withoutNulls(
  z
    .object({ initiator: optionalText(64), remark: optionalText(512) })
    .meta({ id: "AutoConfirmActivation" })
    .optional(),
);
export type AutoConfirmActivation = z.output<typeof autoConfirmActivation>;

/** The auto-confirmation of a target (spec 001 §4.2). */
export const autoConfirm = routesOf(
  "targets",
  { service: "management", interface: "management", source: "spec 001 §4.2" },
  {
    autoConfirm: {
      method: "GET",
      path,
      params,
      success: ok,
      response: autoConfirmView,
      permission: ["READ_TARGET"],
      errors: ["entityNotFound"],
      summary: "Get whether a target confirms its actions by itself",
    },
    activateAutoConfirm: {
      method: "POST",
      path: `${path}/activate`,
      params,
      body: autoConfirmActivation,
      bodyKind: "optional-json",
      success: bodiless,
      permission: ["UPDATE_TARGET"],
      errors: ["constraintViolation", "entityNotFound", "autoConfAlreadyActive"],
      summary: "Let a target confirm its actions by itself, those that wait included",
    },
    deactivateAutoConfirm: {
      method: "POST",
      path: `${path}/deactivate`,
      params,
      success: bodiless,
      permission: ["UPDATE_TARGET"],
      errors: ["entityNotFound"],
      summary: "Let a target no longer confirm its actions by itself",
    },
  },
);
