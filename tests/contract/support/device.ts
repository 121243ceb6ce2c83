import {
  type CancelView,
  type ConfirmationBaseView,
  type ConfirmationView,
  type DeploymentView,
  type DeviceArtifactView,
  type Execution,
  type FinishedResult,
  type PollView,
  routeTable as r,
} from "@harrier/contracts";
import { expect } from "vitest";
import { ask, type CallOptions, call, refused } from "./call.ts";
import { type Answer, credentials, type Headers, pathOf, send } from "./http.ts";

export type LinkName = keyof NonNullable<PollView["_links"]>;
export type ExpectedError = readonly [status: number, code?: string];

/** Builds a feedback as most clients send it. */
export function report(execution: Execution, finished: FinishedResult = "none", more: object = {}): object {
  return { status: { execution, result: { finished }, ...more } };
}

/** Acts as one device. By default it signs in with the gateway token, so that the device need not be known yet. */
export function device(
  controllerId: string,
  { auth = credentials.gateway, tenant = credentials.tenant }: { auth?: string | null; tenant?: string } = {},
) {
  const own = (params: CallOptions["params"] = {}, more: CallOptions = {}): CallOptions => ({
    ...more,
    params: { tenant, controllerId, ...params },
    auth,
  });
  const poll = (headers: Headers = {}) => call<PollView>(r.device.poll, "device", own({}, { headers }));
  const links = async (): Promise<Partial<Record<LinkName, string>>> => {
    const found = (await poll()).json._links ?? {};
    return Object.fromEntries(Object.entries(found).map(([name, link]) => [name, (link as { href: string }).href]));
  };

  return {
    controllerId,
    own,
    poll,
    links,
    /** Returns the names of the links of a poll, sorted; `_links` must be absent when there is none. */
    async linkNames(): Promise<LinkName[]> {
      const { _links } = (await poll()).json;
      if (_links !== undefined) expect(Object.keys(_links)).not.toEqual([]);
      return Object.keys(_links ?? {}).sort() as LinkName[];
    },
    deployment: async (actionId: number, query: CallOptions["query"] = {}) =>
      (await call<DeploymentView>(r.device.getDeployment, "device", own({ actionId }, { query }))).json,
    installedBase: async (actionId: number) => (await call<DeploymentView>(r.device.installedBase, "device", own({ actionId }))).json,
    cancellation: async (actionId: number) => (await call<CancelView>(r.device.getCancel, "device", own({ actionId }))).json,
    artifacts: async (softwareModuleId: number) =>
      (await call<DeviceArtifactView[]>(r.device.listArtifacts, "device", own({ softwareModuleId }))).json,
    feedback: (actionId: number, body: unknown, headers: Headers = {}) =>
      call(r.device.deploymentFeedback, "device", own({ actionId }, { body, headers })),
    feedbackRefused: (actionId: number, body: unknown, expected: ExpectedError, headers: Headers = {}) =>
      refused(r.device.deploymentFeedback, "device", own({ actionId }, { body, headers }), expected),
    cancelFeedback: (actionId: number, body: unknown) => call(r.device.cancelFeedback, "device", own({ actionId }, { body })),
    cancelFeedbackRefused: (actionId: number, body: unknown, expected: ExpectedError) =>
      refused(r.device.cancelFeedback, "device", own({ actionId }, { body }), expected),
    confirmationBase: async () => (await call<ConfirmationBaseView>(r.device.confirmationBase, "device", own())).json,
    confirmation: async (actionId: number, query: CallOptions["query"] = {}) =>
      (await call<ConfirmationView>(r.device.getConfirmation, "device", own({ actionId }, { query }))).json,
    /** Confirms or denies an action. */
    answer: (actionId: number, body: unknown) => call(r.device.confirmationFeedback, "device", own({ actionId }, { body })),
    answerRefused: (actionId: number, body: unknown, expected: ExpectedError, headers: Headers = {}) =>
      refused(r.device.confirmationFeedback, "device", own({ actionId }, { body, headers }), expected),
    /** Sends no body unless one is given. */
    activateAutoConfirm: (body?: unknown) => call(r.device.activateAutoConfirm, "device", own({}, { body })),
    deactivateAutoConfirm: () => call(r.device.deactivateAutoConfirm, "device", own()),
    /** Reports which set the device runs; the answer is 201 where that changes something. */
    runs: async (body: unknown) => (await call(r.device.runningVersion, "device", own({}, { body }))).status,
    configData: (body: unknown) => call(r.device.configData, "device", own({}, { body })),
    ask: <T>(route: Parameters<typeof ask>[0], params: CallOptions["params"] = {}, more: CallOptions = {}) =>
      ask<T>(route, "device", own(params, more)),
    refused: (route: Parameters<typeof ask>[0], params: CallOptions["params"], expected: ExpectedError, more: CallOptions = {}) =>
      refused(route, "device", own(params, more), expected),
    /** Follows a link of an answer exactly as it was given. */
    follow: <T>(href: string, headers: Headers = {}, method = "GET"): Promise<Answer<T>> =>
      send<T>(pathOf(href), { method, headers: { ...(auth === null ? {} : { authorization: auth }), ...headers } }),
  };
}
export type Device = ReturnType<typeof device>;

/** Finds the action id in a link of a poll as clients do: between the last slash and the question mark, if there is one. */
export function actionIdOf(href: string | undefined): number {
  const found = /\/(\d+)(?:\?c=-?\d+)?$/.exec(href ?? "");
  if (found === null) throw new Error(`no action id in ${href}`);
  return Number(found[1]);
}
