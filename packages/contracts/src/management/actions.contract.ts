import { z } from "zod";
import { representedPageQuery } from "../paging.ts";
import { ok, routesOf } from "../route.ts";
import { pathId } from "../values.ts";
import { actionPage, actionPageRest, actionView, actionViewRest } from "./action-view.ts";
import { cursorListErrors } from "./common.ts";

/** The operations on actions of all targets (spec 001 §4.3). */
export const actions = routesOf(
  "actions",
  { service: "management", interface: "management", source: "spec 001 §4.3" },
  {
    list: {
      method: "GET",
      path: "/actions",
      query: representedPageQuery,
      success: ok,
      response: actionPage,
      responseRest: actionPageRest,
      permission: ["READ_TARGET"],
      errors: cursorListErrors,
      summary: "List actions, newest first",
    },
    get: {
      method: "GET",
      path: "/actions/:actionId",
      params: z.object({ actionId: pathId }),
      success: ok,
      response: actionView,
      responseRest: actionViewRest,
      permission: ["READ_TARGET"],
      errors: ["entityNotFound"],
      summary: "Get an action",
    },
  },
);
