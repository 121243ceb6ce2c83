import { HarrierError } from "@harrier/errors";
import type { TestDatabase } from "@harrier/testkit";
import type { RunDeps } from "../auto-assign/run-filter.ts";

export type Chunks = RunDeps["actions"] & {
  /** It is called before each chunk, and may throw or never return. */
  beforeCall: (filterName: string) => unknown;
};

/** Calls controller's own function with chunks of a few targets, behind the interface of its client. */
export function chunksOfController(database: TestDatabase, limit: number): Chunks {
  const { pool } = database.db("controller");
  let nextId = 100_000;
  const chunks: Chunks = {
    beforeCall: () => {},
    async autoAssignChunk(request) {
      await chunks.beforeCall(request.filterName ?? "");
      const { filterId, epoch, pass, cursor = -1, set, weight, initiator, filterName } = request;
      const firstId = nextId;
      nextId += limit;
      const { rows } = await pool.query(
        `select * from auto_assign_chunk(1, 'DEFAULT', $1, $2, $3, $4, $5, $6, $7, 'set', '1', $8, false, $9, $10,
           $11, $12, $13, null, true, 2000, false, false, $14, $15, null, null, null, null)`,
        [
          filterId,
          epoch,
          pass,
          cursor,
          limit,
          firstId,
          set?.id,
          set?.typeId,
          ["soft", "forced"].indexOf(request.forceType ?? ""),
          weight,
          request.maintenanceWindow?.schedule,
          request.maintenanceWindow?.duration,
          request.maintenanceWindow?.timezone,
          initiator,
          filterName,
        ],
      );
      if (rows[0].fenced) throw new HarrierError("fenced");
      return rows[0];
    },
  };
  return chunks;
}
