import type { ConfirmationFeedback, Execution, FinishedResult } from "@harrier/contracts";
import { type Database, type IdBlocks, run, runOne, type SecretBox } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type {
  CallContext,
  FindThingsRequest,
  FindThingsResponse,
  RegisterThingRequest,
  RemoveThingRequest,
  ReportActionStatusRequest,
  SwitchThingAutoConfirmRequest,
  ThingAttributes,
  UpdateThingAttributesRequest,
} from "@harrier/rpc";
import { LinesPerMinute } from "@harrier/service";
import { type ConfigData, putConfigData } from "../config-data/config-data.ts";
import { activateAutoConfirm, deactivateAutoConfirm } from "../confirmation/auto-confirm.ts";
import { confirm } from "../confirmation/confirm.ts";
import { type Device, storableId } from "../device.ts";
import type { LimitsOf } from "../domain/quotas.ts";
import type { Channel } from "../domain/transitions.ts";
import { type ReportDeps, report } from "../feedback/report.ts";
import { registerTarget } from "../poll/registration.ts";
import { type RetrieveDeps, retrieve } from "../retrieval/retrieve.ts";
import { deleteTargets } from "../targets/targets.ts";
import { callUpdateThing, findThings as readOwners } from "./things.sql.ts";

export interface ThingDeps extends Pick<ReportDeps, "recordReport" | "now">, Pick<RetrieveDeps, "recordRetrieval"> {
  db: Database;
  ids: IdBlocks;
  secrets: SecretBox;
  limits: LimitsOf;
  fault: (name: string) => unknown;
  log: { info(fields: object, message: string): void };
}

type Nothing = Record<string, never>;
type Context = Pick<CallContext, "principal" | "traceparent">;

/** The thing that a call is about; it has no HTTP request, so its addresses are empty. */
function thingOf({ principal, traceparent }: Context, controllerId: string): Device {
  const { tenantId, tenant } = principal;
  return { tenantId, tenant, controllerId, traceparent: traceparent ?? null, base: "", tenantPath: "", controllerPath: "" };
}

export async function findThings(deps: ThingDeps, request: FindThingsRequest, ctx: Context): Promise<FindThingsResponse> {
  const rows = await run(deps.db.pool, readOwners, [ctx.principal.tenantId, request.actionIds.map(storableId)]);
  return { things: rows };
}

/**
 * Registers a thing or brings it up to date (contract rollouts.md §8.3, THING_CREATED). Attributes come last: wrong ones are refused, and the thing is
 * registered all the same.
 */
export async function registerThing(deps: ThingDeps, request: RegisterThingRequest, ctx: Context): Promise<Nothing> {
  const thing = thingOf(ctx, request.controllerId);
  const { address, name = null, targetType = null, attributes } = request;
  const update = () => runOne(deps.db.pool, callUpdateThing, [thing.tenantId, thing.controllerId, address, name, targetType]);
  let updated = await update();
  if (updated?.outcome !== "ok") {
    await registerTarget(deps, { device: thing, address, mayRegister: true });
    updated = await update();
    if (updated?.outcome !== "ok") throw new HarrierError("unavailable"); // deleted in this very moment
  }
  if (updated.unknownType) logUnknownType(deps, thing, targetType);
  if (attributes) await putConfigData(deps, thing, configDataOf(attributes));
  return {};
}

/** A backend registers all its things anew after each start, so that a name without a type would fill the log: some lines a minute say enough. */
const unknownTypeLines = new LinesPerMinute({ each: 10, all: 60 });

function logUnknownType({ log }: ThingDeps, { tenant, tenantId, controllerId }: Device, targetType: string | null): void {
  if (unknownTypeLines.allows(tenantId))
    log.info({ tenant, controllerId, targetType }, "a thing names a target type that there is not: it keeps its own");
}

export async function removeThing(deps: ThingDeps, { controllerId }: RemoveThingRequest, ctx: CallContext): Promise<Nothing> {
  const { deleted } = await deleteTargets(deps, { controllerIds: [controllerId], ifRevisions: [] }, ctx);
  if (deleted === 0) throw entityNotFound("Target", controllerId);
  return {};
}

export async function updateThingAttributes(deps: ThingDeps, request: UpdateThingAttributesRequest, ctx: Context): Promise<Nothing> {
  const { controllerId, attributes } = request;
  if (!attributes) throw new HarrierError("internal", "attributes without attributes");
  await putConfigData(deps, thingOf(ctx, controllerId), configDataOf(attributes));
  return {};
}

function configDataOf({ mode, values, nulls }: ThingAttributes): ConfigData {
  return { mode: mode as ConfigData["mode"], data: { ...values, ...Object.fromEntries(nulls.map((key) => [key, null])) } };
}

interface Reported {
  readonly channel: Channel;
  readonly execution: Execution;
  readonly finished: FinishedResult;
}

/** What each status of a thing is as a report (contract rollouts.md §8.3); CONFIRMED, DENIED and RETRIEVED are none. */
const reports: Readonly<Record<string, Reported>> = {
  DOWNLOAD: { channel: "deployment", execution: "download", finished: "none" },
  RUNNING: { channel: "deployment", execution: "proceeding", finished: "none" },
  WARNING: { channel: "deployment", execution: "rejected", finished: "none" },
  DOWNLOADED: { channel: "deployment", execution: "downloaded", finished: "none" },
  FINISHED: { channel: "deployment", execution: "closed", finished: "success" },
  ERROR: { channel: "deployment", execution: "closed", finished: "failure" },
  CANCELED: { channel: "cancel", execution: "closed", finished: "success" },
  CANCEL_REJECTED: { channel: "cancel", execution: "rejected", finished: "none" },
};

/** Records what a thing says of one of its actions, by the same rules as the report of an HTTP device. */
export async function reportActionStatus(deps: ThingDeps, request: ReportActionStatusRequest, ctx: Context): Promise<Nothing> {
  const device = thingOf(ctx, request.controllerId);
  const { actionId, status, messages: details, code, timestamp } = request;
  if (status === "CONFIRMED" || status === "DENIED") {
    const confirmation: ConfirmationFeedback["confirmation"] = status === "CONFIRMED" ? "confirmed" : "denied";
    await confirm(deps, { device, actionId, feedback: { confirmation, code, details } });
    return {};
  }
  if (status === "RETRIEVED") await retrieve(deps, { device, resource: "deployment", actionId });
  const reported = status === "RETRIEVED" && details.length > 0 ? reports["RUNNING"] : reports[status];
  if (reported === undefined) {
    if (status === "RETRIEVED") return {};
    throw new HarrierError("constraintViolation", `There is no status ${status}.`);
  }
  const { channel, execution, finished } = reported;
  const feedback = { execution, finished, code, details, timestamp };
  const fault = async (name: string) => void (await deps.fault(name));
  const record = () => report({ ...deps, fault }, { device, channel, actionId, feedback });
  await record().catch(async (error: unknown) => {
    const why = error instanceof HarrierError ? error.code : undefined;
    // What an ended action is told late changes nothing, and hawkBit does not say so either.
    if (why === "actionClosed") return;
    if (why !== "stateNotFound" || status !== "FINISHED") throw error;
    // A thing that has finished what was to be confirmed has confirmed it.
    await confirm(deps, { device, actionId, feedback: { confirmation: "confirmed", code: undefined, details: [] } });
    await record();
  });
  return {};
}

/** The remark that hawkBit stores where a thing gives none. */
const usualRemark = "Initiated using the Device Management Federation API without providing a remark.";

/** Switches auto-confirmation on or off; what is so already stays so, because a message may come twice. */
export async function switchThingAutoConfirm(deps: ThingDeps, request: SwitchThingAutoConfirmRequest, ctx: Context): Promise<Nothing> {
  const thing = thingOf(ctx, request.controllerId);
  if (!request.enabled) {
    await deactivateAutoConfirm(deps, thing);
    return {};
  }
  await activateAutoConfirm(deps, thing, { initiator: request.initiator, remark: request.remark ?? usualRemark }).catch(
    (error: unknown) => {
      if (!(error instanceof HarrierError) || error.code !== "autoConfAlreadyActive") throw error;
    },
  );
  return {};
}
