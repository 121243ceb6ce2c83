import { type Queryable, recordGuest } from "@harrier/db";
import type { NoteNodeRequest, NoteNodeResponse } from "@harrier/rpc";

/** Records that a gateway is there, or forgets one that ends in order: gateways own no data (contract console.md §3). */
export async function recordGateway({ db }: { db: Queryable }, request: NoteNodeRequest): Promise<NoteNodeResponse> {
  await recordGuest(db, "gateway", request);
  return {};
}
