import { type ActionStatus, type ActionStatusName, actionStatus, type Bucket, bucket, forceType } from "@harrier/contracts";

/** Every change that a device makes has this name in the audit members (contract device.md §3.2). */
export const devicePrincipal = "CONTROLLER_PLUG_AND_PLAY";

/** Messages with this beginning are the server's own and are not shown to devices (contract device.md §4.4). */
export const serverMessagePrefix = "Update Server: ";

const bucketByStatus: Record<ActionStatusName, Bucket> = {
  SCHEDULED: bucket.scheduled,
  RUNNING: bucket.running,
  RETRIEVED: bucket.running,
  WARNING: bucket.running,
  DOWNLOAD: bucket.running,
  WAIT_FOR_CONFIRMATION: bucket.running,
  CANCELING: bucket.running,
  CANCEL_REJECTED: bucket.running,
  DOWNLOADED: bucket.running,
  FINISHED: bucket.finished,
  ERROR: bucket.error,
  CANCELED: bucket.cancelled,
};

const buckets: ReadonlyMap<number, Bucket> = new Map(
  Object.entries(bucketByStatus).map(([name, to]) => [actionStatus[name as ActionStatusName], to]),
);

/** Returns the bucket in which an action counts in the progress of its rollout group (contract rollouts.md §4.10). */
export function bucketOf(status: ActionStatus, force: number): Bucket {
  if (status === actionStatus.DOWNLOADED && force === forceType.downloadonly) return bucket.finished;
  return buckets.get(status) as Bucket;
}
