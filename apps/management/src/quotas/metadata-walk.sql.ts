import { statement } from "@harrier/db";

/** The next step of the walk over the targets' metadata (migrations/0016); answers how many entries it has looked at. */
export const walkTargetMetadata = statement<[mostEntries: number], { looked: number }>(
  "management.walk_target_metadata",
  "select walk_target_metadata($1) as looked",
);
