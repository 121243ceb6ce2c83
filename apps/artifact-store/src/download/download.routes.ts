import { artifacts, downloads } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import type { Mount, RequestContext } from "@harrier/service";
import pLimit from "p-limit";
import { contentKey, type Storage } from "../storage/storage.ts";
import type { Traffic } from "../traffic/traffic.ts";
import type { ArtifactRow } from "./download.sql.ts";
import type { BufferedDownload } from "./download-buffer.ts";
import { type FindDeps, findForAdmin, findForDevice, type GrantedArtifact } from "./find-artifact.ts";
import { GivenLinks } from "./given-links.ts";
import { HotFiles } from "./hot-files.ts";
import { type RedirectDeps, redirectToBucket } from "./redirect.ts";
import { type Sendable, type SendDeps, sendArtifact, sendMd5sum } from "./send.ts";

export interface DownloadDeps extends Pick<FindDeps, "db">, Omit<SendDeps, "log" | "sent" | "limit" | "hotFiles"> {
  readonly storage: Pick<Storage, "open" | "stat" | "link">;
  /** A link into the bucket is good for so many seconds. */
  readonly linkSeconds: number;
  readonly downloadBuffer: { add(download: BufferedDownload): Promise<void> };
  readonly now: () => number;
  readonly traffic: Pick<Traffic, "sent" | "check" | "refresh">;
}

const deviceStyle = { bareEtag: false, rangeOnWhole: false };

/** The maximum of short reads of all downloads together. It is enough for eight answers of many parts at full speed. */
const shortReads = 32;

/** Mounts the downloads: those of devices under both shapes of links (contract device.md §6), and those of users (management.md §4.3). */
export function mountDownloads(mount: Mount, options: DownloadDeps): void {
  const deps = {
    ...options,
    limit: pLimit(shortReads),
    hotFiles: new HotFiles(options.storage),
    linked: options.storage.link !== undefined,
    given: new GivenLinks(),
  };
  // these routes come first, because their suffix would also match as part of a file name
  for (const route of [downloads.artifactMd5, downloads.artifactDownloadMd5]) {
    mount(route, async (ctx) => {
      const artifact = await findGranted(deps, ctx);
      await recordDownload(deps, ctx, artifact);
      sendMd5sum(ctx, artifact);
    });
  }
  for (const route of [downloads.artifact, downloads.artifactDownload]) {
    mount(route, async (ctx) => {
      const artifact = await findGranted(deps, ctx);
      // a range is not recorded as a download, because streaming clients request hundreds of them (contract device.md §6.4)
      const onWhole = (): Promise<void> | undefined => recordDownload(deps, ctx, artifact);
      const found = sendable(ctx.tenantId, artifact);
      const sending = sendDeps(deps, ctx);
      const device = { tenantId: ctx.tenantId, controllerId: controllerOf(ctx) };
      if (artifact.presigned && (await redirectToBucket(sending, ctx, { artifact: found, device, onWhole }))) return;
      await sendArtifact(sending, ctx, found, { ...deviceStyle, onWhole });
    });
  }
  mount(artifacts.download, async (ctx) => {
    const { softwareModuleId, artifactId } = ctx.params;
    const artifact = await findForAdmin(deps, { tenantId: ctx.tenantId, moduleId: softwareModuleId, artifactId });
    // the specification demands an ETag without quotes, and hawkBit 1.x has them (contract device.md §6.2)
    const style = { bareEtag: ctx.surface === "spec", rangeOnWhole: true };
    await sendArtifact(sendDeps(deps, ctx), ctx, sendable(ctx.tenantId, artifact), style);
  });
}

type DeviceContext = RequestContext<typeof downloads.artifact> | RequestContext<typeof downloads.artifactMd5>;

function controllerOf({ identity: { controllerId } }: DeviceContext): string {
  if (controllerId === undefined) throw new HarrierError("unauthenticated");
  return controllerId;
}

async function findGranted(deps: DownloadDeps & FindDeps, ctx: DeviceContext): Promise<GrantedArtifact> {
  const controllerId = controllerOf(ctx);
  const { softwareModuleId: moduleId, fileName: filename } = ctx.params;
  const artifact = await findForDevice(deps, { tenantId: ctx.tenantId, controllerId, moduleId, filename });
  // this is the last check, so that an unknown artifact stays 404; users may still download, and their bytes count (spec 000 §7.1)
  await deps.traffic.refresh();
  deps.traffic.check(ctx.tenantId);
  return artifact;
}

type Sending = SendDeps & RedirectDeps;

function sendDeps(
  deps: DownloadDeps & Pick<Sending, "limit" | "hotFiles" | "given">,
  { tenantId, log }: { tenantId: number; log: SendDeps["log"] },
): Sending {
  return { ...deps, log, sent: (bytes) => deps.traffic.sent(tenantId, bytes) };
}

function sendable(tenantId: number, artifact: ArtifactRow): Sendable {
  return { ...artifact, key: contentKey(tenantId, artifact.sha256) };
}

/** Adds the download to the history of its action before the first byte is sent, so that the device's reports come after it. */
function recordDownload(deps: DownloadDeps, ctx: DeviceContext, artifact: GrantedArtifact): Promise<void> | undefined {
  // if downloads need no authentication, an unauthenticated client must not be able to fill the history of a device
  if (ctx.identity.subject === "anonymous") return undefined;
  return deps.downloadBuffer.add({ tenantId: ctx.tenantId, actionId: artifact.actionId, path: pathOf(ctx.identity.path), at: deps.now() });
}

/** Returns the path without the query, which may contain 16 KB of any text; paths of files are shorter than the limit. */
const pathOf = (target: string): string => target.split("?", 1)[0]?.slice(0, 2_048) ?? "";
