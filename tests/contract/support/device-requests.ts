import { builder } from "./build.ts";
import { report } from "./device.ts";
import { type Fixture, idsOf } from "./tenant.fixture.ts";
import type { ValidRequest } from "./walk.ts";

/** Has one valid request per route of the device interface. */
export function deviceRequests(fixture: Fixture): Record<string, ValidRequest> {
  const { dialect, tenant, controllerId, actionId, moduleId: softwareModuleId, artifact, cancelling, finished, waiting } = fixture;
  const build = builder(dialect);
  const own = { tenant, controllerId };
  const file = { params: { ...own, softwareModuleId, fileName: artifact.providedFilename } };
  const progress = report("proceeding", "none", { details: ["x"], code: 1 });
  return {
    "device.poll": () => ({ params: own }),
    "device.getDeployment": () => ({ params: { ...own, actionId }, query: { actionHistory: 5, c: 1 } }),
    "device.deploymentFeedback": () => ({ params: { ...own, actionId }, body: { ...progress, timestamp: 5, id: "1", time: "x" } }),
    "device.getCancel": () => ({ params: { tenant, ...cancelling } }),
    "device.cancelFeedback": () => ({ params: { tenant, ...cancelling }, body: progress }),
    "device.configData": () => ({ params: own, body: { mode: "merge", data: { a: "b" } } }),
    "device.installedBase": () => ({ params: { tenant, ...idsOf(finished) }, query: { actionHistory: 5 } }),
    "device.runningVersion": async () => {
      const [{ controllerId: fresh }, { name, version }] = await Promise.all([build.target(), build.set()]);
      return { params: { tenant, controllerId: fresh }, body: { name, version } };
    },
    "device.confirmationBase": () => ({ params: { tenant, controllerId: waiting.controllerId } }),
    "device.getConfirmation": () => ({ params: { tenant, ...waiting }, query: { actionHistory: 5, c: 1 } }),
    "device.confirmationFeedback": () => ({
      params: { tenant, ...waiting },
      body: { confirmation: "denied", code: 1, details: ["x"] },
    }),
    "device.activateAutoConfirm": async () => ({
      params: { tenant, controllerId: (await build.target()).controllerId },
      body: { initiator: "i", remark: "r" },
    }),
    "device.deactivateAutoConfirm": () => ({ params: own }),
    "device.listArtifacts": () => ({ params: { ...own, softwareModuleId } }),
    "device.artifact": () => file,
    "device.artifactMd5": () => file,
    "device.artifactDownload": () => file,
    "device.artifactDownloadMd5": () => file,
  };
}
