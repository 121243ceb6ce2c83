import { z } from "zod";
import { queryInt } from "../paging.ts";
import { deviceOk, routesOf } from "../route.ts";
import { isStorable, lookedUpText, newControllerId, pathId } from "../values.ts";
import { cancelView, confirmationBaseView, confirmationView, deploymentView, deviceArtifactView, pollView } from "./answers.ts";
import { autoConfirmBody, confirmationBody } from "./confirmation.ts";
import { configDataBody, feedbackBody } from "./feedback.ts";
import { runningVersionBody } from "./running-version.ts";

const target = { tenant: lookedUpText, controllerId: lookedUpText };

/** A poll creates its target, so the id must be one that can be stored; in other requests an impossible id is just unknown. */
const registering = z.object({
  tenant: lookedUpText,
  controllerId: newControllerId(z.string().min(1).max(256).refine(isStorable, "must be well formed")),
});

const ofTarget = z.object(target);
const ofAction = z.object({ ...target, actionId: pathId });
const ofModule = z.object({ ...target, softwareModuleId: pathId });
const base = "/:tenant/controller/v1/:controllerId";

const actionHistory = queryInt(0);
const deploymentQuery = z.object({ actionHistory, c: queryInt(-1) });
const installedQuery = z.object({ actionHistory });

const resource = { service: "controller", interface: "device", success: deviceOk, permission: [], credential: "device" } as const;

/** The resources of a device (spec 000 §4). */
export const device = routesOf("device", resource, {
  poll: {
    method: "GET",
    path: base,
    params: registering,
    response: pollView,
    errors: ["constraintViolation", "quotaTooManyEntries"],
    summary: "Ask for open work; registers an unknown device",
    source: "spec 000 §4.1",
  },
  getDeployment: {
    method: "GET",
    path: `${base}/deploymentBase/:actionId`,
    params: ofAction,
    query: deploymentQuery,
    response: deploymentView,
    errors: ["entityNotFound", "stateNotFound"],
    summary: "Read a deployment",
    source: "spec 000 §4.1",
  },
  deploymentFeedback: {
    method: "POST",
    path: `${base}/deploymentBase/:actionId/feedback`,
    params: ofAction,
    body: feedbackBody,
    errors: ["entityNotFound", "stateNotFound", "actionClosed", "quotaTooManyEntries", "concurrentModification"],
    summary: "Report on a deployment",
    source: "spec 000 §4.1",
  },
  getCancel: {
    method: "GET",
    path: `${base}/cancelAction/:actionId`,
    params: ofAction,
    response: cancelView,
    errors: ["entityNotFound", "stateNotFound"],
    summary: "Read a cancellation",
    source: "spec 000 §4.1",
  },
  cancelFeedback: {
    method: "POST",
    path: `${base}/cancelAction/:actionId/feedback`,
    params: ofAction,
    body: feedbackBody,
    errors: ["entityNotFound", "actionNotCancelable", "quotaTooManyEntries", "concurrentModification"],
    summary: "Report on a cancellation",
    source: "spec 000 §4.1",
  },
  configData: {
    method: "PUT",
    path: `${base}/configData`,
    params: ofTarget,
    body: configDataBody,
    errors: ["entityNotFound", "invalidTargetAttributes", "quotaTooManyEntries", "concurrentModification"],
    summary: "Send the attributes of the device",
    source: "spec 000 §4.1",
  },
  installedBase: {
    method: "GET",
    path: `${base}/installedBase/:actionId`,
    params: ofAction,
    query: installedQuery,
    response: deploymentView,
    errors: ["entityNotFound", "stateNotFound"],
    summary: "Read the latest installed action",
    source: "spec 000 §4.2",
  },
  runningVersion: {
    method: "PUT",
    path: `${base}/installedBase`,
    params: ofTarget,
    body: runningVersionBody,
    success: { device: 201 },
    otherSuccess: { 200: "The set is assigned already, or a deployment is pending" },
    errors: ["entityNotFound", "setInvalid", "setIncomplete", "quotaTooManyEntries", "concurrentModification"],
    summary: "Report the version that is running",
    source: "spec 000 §4.2",
  },
  confirmationBase: {
    method: "GET",
    path: `${base}/confirmationBase`,
    params: registering,
    response: confirmationBaseView,
    errors: ["constraintViolation", "quotaTooManyEntries"],
    summary: "Ask how the target confirms; registers an unknown device",
    source: "spec 000 §4.2",
  },
  activateAutoConfirm: {
    method: "POST",
    path: `${base}/confirmationBase/activateAutoConfirm`,
    params: ofTarget,
    body: autoConfirmBody,
    bodyKind: "optional-json",
    errors: ["entityNotFound", "constraintViolation", "autoConfAlreadyActive", "concurrentModification"],
    summary: "Confirm every action automatically from now on",
    source: "spec 000 §4.2",
  },
  deactivateAutoConfirm: {
    method: "POST",
    path: `${base}/confirmationBase/deactivateAutoConfirm`,
    params: ofTarget,
    errors: ["entityNotFound", "concurrentModification"],
    summary: "Confirm no action automatically any more",
    source: "spec 000 §4.2",
  },
  getConfirmation: {
    method: "GET",
    path: `${base}/confirmationBase/:actionId`,
    params: ofAction,
    query: deploymentQuery,
    response: confirmationView,
    errors: ["entityNotFound", "stateNotFound"],
    summary: "Read a deployment that waits for its confirmation",
    source: "spec 000 §4.2",
  },
  confirmationFeedback: {
    method: "POST",
    path: `${base}/confirmationBase/:actionId/feedback`,
    params: ofAction,
    body: confirmationBody,
    errors: ["entityNotFound", "stateNotFound", "actionClosed", "quotaTooManyEntries", "concurrentModification"],
    summary: "Confirm or deny a deployment",
    source: "spec 000 §4.2",
  },
  listArtifacts: {
    method: "GET",
    path: `${base}/softwaremodules/:softwareModuleId/artifacts`,
    params: ofModule,
    response: z.array(deviceArtifactView),
    errors: ["entityNotFound"],
    summary: "List the artifacts of a software module",
    source: "spec 000 §4.1",
  },
});
