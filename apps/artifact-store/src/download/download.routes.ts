import { artifacts, downloads } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import type { Mount, RequestContext } from "@harrier/service";
import pLimit from "p-limit";
import { contentKey } from "../storage/storage.ts";
import type { Traffic } from "../traffic/traffic.ts";
import type { ArtifactRow } from "./download.sql.ts";
import type { DownloadNote } from "./download-notes.ts";
import { type FindDeps, findForAdmin, findForDevice, type GrantedArtifact } from "./find-artifact.ts";
import { type Sendable, type SendDeps, sendArtifact, sendMd5sum } from "./send.ts";

export interface DownloadDeps extends FindDeps, Omit<SendDeps, "log" | "sent" | "limit"> {
  readonly notes: { add(note: DownloadNote): Promise<void> };
  readonly now: () => number;
  readonly traffic: Pick<Traffic, "sent" | "check">;
}

const deviceStyle = { bareEtag: false, rangeOnWhole: false };

/** Short reads of the store that answers of many parts have under way, all downloads together: enough for eight of them at full speed. */
const shortReads = 32;

/** Bytes out: to devices in both address shapes (contract device.md §6), and to people (management.md §4.3). */
export function mountDownloads(mount: Mount, options: DownloadDeps): void {
  const deps = { ...options, limit: pLimit(shortReads) };
  // these first: their suffix would match as part of a file name too
  for (const route of [downloads.artifactMd5, downloads.artifactDownloadMd5]) {
    mount(route, async (ctx) => {
      const artifact = await findGranted(deps, ctx);
      await note(deps, ctx, artifact);
      sendMd5sum(ctx, artifact);
    });
  }
  for (const route of [downloads.artifact, downloads.artifactDownload]) {
    mount(route, async (ctx) => {
      const artifact = await findGranted(deps, ctx);
      // a part of a file is no download to be told of: streaming clients ask for hundreds (contract device.md §6.4)
      const onWhole = (): Promise<void> | undefined => note(deps, ctx, artifact);
      await sendArtifact(sendDeps(deps, ctx), ctx, sendable(ctx.tenantId, artifact), { ...deviceStyle, onWhole });
    });
  }
  mount(artifacts.download, async (ctx) => {
    const { softwareModuleId, artifactId } = ctx.params;
    const artifact = await findForAdmin(deps, { tenantId: ctx.tenantId, moduleId: softwareModuleId, artifactId });
    // the specification's line has the tag without quotes; hawkBit 1.x has them (contract device.md §6.2)
    const style = { bareEtag: ctx.surface === "spec", rangeOnWhole: true };
    await sendArtifact(sendDeps(deps, ctx), ctx, sendable(ctx.tenantId, artifact), style);
  });
}

type DeviceContext = RequestContext<typeof downloads.artifact> | RequestContext<typeof downloads.artifactMd5>;

async function findGranted(deps: DownloadDeps, ctx: DeviceContext): Promise<GrantedArtifact> {
  const { controllerId } = ctx.identity;
  if (controllerId === undefined) throw new HarrierError("unauthenticated");
  const { softwareModuleId: moduleId, fileName: filename } = ctx.params;
  const artifact = await findForDevice(deps, { tenantId: ctx.tenantId, controllerId, moduleId, filename });
  // behind the other refusals: what is not there stays 404. People may still download, and what they get counts (spec 000 §7.1)
  deps.traffic.check(ctx.tenantId);
  return artifact;
}

function sendDeps(deps: DownloadDeps & Pick<SendDeps, "limit">, { tenantId, log }: { tenantId: number; log: SendDeps["log"] }): SendDeps {
  return { ...deps, log, sent: (bytes) => deps.traffic.sent(tenantId, bytes) };
}

function sendable(tenantId: number, artifact: ArtifactRow): Sendable {
  return { ...artifact, key: contentKey(tenantId, artifact.sha256) };
}

/** Writes the download into the history of its action, before the first byte: what the device reports of it comes behind. */
function note(deps: DownloadDeps, ctx: DeviceContext, artifact: GrantedArtifact): Promise<void> | undefined {
  // where anybody may download, a stranger must not fill the history of a device
  if (ctx.identity.subject === "anonymous") return undefined;
  return deps.notes.add({ tenantId: ctx.tenantId, actionId: artifact.actionId, path: pathOf(ctx.identity.path), at: deps.now() });
}

/** Without the query, which may have 16 KB of anything; names of files are shorter. */
const pathOf = (target: string): string => target.split("?", 1)[0]?.slice(0, 2_048) ?? "";
