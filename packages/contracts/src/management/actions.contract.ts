import { z } from "zod";
import { representedPageQuery } from "../paging.ts";
import { ok, route } from "../route.ts";
import { pathId } from "../values.ts";
import { actionPage, actionPageRest, actionView, actionViewRest } from "./action-view.ts";
import { cursorListErrors } from "./common.ts";

/** The operations on actions of all targets (spec 001 §4.3). */
export const actions = {
  list: route({
    id: "actions.list",
    service: "management",
    interface: "management",
    method: "GET",
    path: "/actions",
    query: representedPageQuery,
    success: ok,
    response: actionPage,
    responseRest: actionPageRest,
    permission: ["READ_TARGET"],
    errors: cursorListErrors,
    summary: "List actions, newest first",
    source: "spec 001 §4.3",
  }),
  get: route({
    id: "actions.get",
    service: "management",
    interface: "management",
    method: "GET",
    path: "/actions/:actionId",
    params: z.object({ actionId: pathId }),
    success: ok,
    response: actionView,
    responseRest: actionViewRest,
    permission: ["READ_TARGET"],
    errors: ["entityNotFound"],
    summary: "Get an action",
    source: "spec 001 §4.3",
  }),
};
