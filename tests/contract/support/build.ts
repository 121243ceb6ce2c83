import { hash, randomBytes } from "node:crypto";
import {
  type ActionView,
  type ArtifactUploadView,
  type ArtifactView,
  type AssignmentResult,
  type DistributionSetView,
  routeTable as r,
  type SoftwareModuleView,
  type TargetView,
} from "@harrier/contracts";
import { multipart } from "@harrier/testkit";
import { type CallOptions, call, type Dialect } from "./call.ts";

/** Makes a name that nothing else in this run or an earlier one has. No name is a part of another one. */
export function unique(prefix = "c"): string {
  return `${prefix}-${randomBytes(7).toString("hex")}x`;
}

export interface Uploaded extends ArtifactView {
  bytes: Buffer;
}

/** Makes bytes that no other artifact has. */
export function someBytes(size = 1_000): Buffer {
  return randomBytes(size);
}

/** The body of a part of an upload. */
export function part(bytes: Buffer): Pick<CallOptions, "body" | "headers"> {
  return { body: bytes, headers: { "content-type": "application/octet-stream" } };
}

/** Does in one dialect the administrator's work that the cases need before they begin. */
export function builder(dialect: Dialect) {
  const modules = async (...bodies: object[]): Promise<SoftwareModuleView[]> => {
    const named = bodies.map((body) => ({ name: unique("module"), version: "1.0", type: "os", ...body }));
    return (await call<SoftwareModuleView[]>(r.softwareModules.create, dialect, { body: named })).json;
  };
  const module = async (body: object = {}): Promise<SoftwareModuleView> => (await modules(body))[0] as SoftwareModuleView;

  const upload = async (softwareModuleId: number, bytes = someBytes(), filename = unique("file")): Promise<Uploaded> => {
    const form = multipart([{ filename, bytes }]);
    const options: CallOptions = { params: { softwareModuleId }, body: form.body, headers: { "content-type": form.type } };
    return { ...(await call<ArtifactView>(r.artifacts.upload, dialect, options)).json, bytes };
  };

  /** Opens an upload in parts, and sends its one part if it is given. */
  const uploadInParts = async (size = 1_000, bytes?: Buffer, body: object = {}) => {
    const softwareModuleId = (await module()).id;
    const opened = await call<ArtifactUploadView>(r.artifactUploads.open, dialect, {
      params: { softwareModuleId },
      body: { filename: unique("file"), size, ...body },
    });
    const params = { softwareModuleId, uploadId: opened.json.id };
    if (bytes !== undefined) await call(r.artifactUploads.sendPart, dialect, { params, query: { offset: 0 }, ...part(bytes) });
    return params;
  };

  /** Makes a set as given; without modules it gets one `os` module and is complete. */
  const set = async (body: { modules?: { id: number }[] } & Record<string, unknown> = {}): Promise<DistributionSetView> => {
    const parts = body.modules ?? [{ id: (await module()).id }];
    const whole = { name: unique("set"), version: "1.0", type: "os", ...body, modules: parts };
    return (await call<DistributionSetView[]>(r.distributionSets.create, dialect, { body: [whole] })).json[0] as DistributionSetView;
  };

  /** Makes a complete set whose one module has one artifact. */
  const setWithArtifact = async (bytes = someBytes(), filename = unique("file"), body: Record<string, unknown> = {}) => {
    const { id } = await module();
    const artifact = await upload(id, bytes, filename);
    return { set: await set({ ...body, modules: [{ id }] }), moduleId: id, artifact };
  };

  const targets = async (...bodies: object[]): Promise<TargetView[]> => {
    const named = bodies.map((body) => ({ controllerId: unique("target"), ...body }));
    return (await call<TargetView[]>(r.targets.create, dialect, { body: named })).json;
  };
  const target = async (body: object = {}): Promise<TargetView> => (await targets(body))[0] as TargetView;

  const assignAll = async (distributionSetId: number, items: object[]): Promise<AssignmentResult> =>
    (await call<AssignmentResult>(r.distributionSets.assignTargets, dialect, { params: { distributionSetId }, body: items })).json;

  /** Assigns a set to one target and returns the action's id. */
  const assign = async (distributionSetId: number, controllerId: string, item: object = {}): Promise<number> => {
    const result = await assignAll(distributionSetId, [{ id: controllerId, ...item }]);
    const action = result.assignedActions[0];
    if (action === undefined) throw new Error(`no action: ${JSON.stringify(result)}`);
    return action.id;
  };

  /** Makes a target with an open deployment. */
  const deployment = async (item: object = {}) => {
    const [{ controllerId, securityToken }, { id: setId, modules: parts }] = await Promise.all([target(), set()]);
    const actionId = await assign(setId, controllerId, item);
    return { controllerId, securityToken: securityToken as string, setId, moduleId: parts[0]?.id as number, actionId };
  };

  const cancel = (targetId: string, actionId: number, query: CallOptions["query"] = {}) =>
    call(r.targets.cancelAction, dialect, { params: { targetId, actionId }, query });

  return { modules, module, upload, uploadInParts, set, setWithArtifact, targets, target, assignAll, assign, deployment, cancel };
}

/** Cases at the device interface use this one, because the dialect does not matter to them. */
export const build = builder("spec");

export const md5 = (bytes: Buffer): string => hash("md5", bytes);
export const sha1 = (bytes: Buffer): string => hash("sha1", bytes);
export const sha256 = (bytes: Buffer): string => hash("sha256", bytes);

/** Describes the state of an action in terms that do not depend on the dialect. */
export function stateOf(action: ActionView): { type: string; active: boolean; state: string } {
  const state = "detailStatus" in action ? action.detailStatus : action.status;
  return { type: action.type, active: action.active, state };
}
