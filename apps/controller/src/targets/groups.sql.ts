import { statement } from "@harrier/db";

export const changeTargetGroup = statement<
  [tenantId: number, controllerIds: string[], ids: number[], group: string | null, scope: number[] | null, by: string],
  { changed: number }
>("controller.change_target_group", "select change_target_group($1, $2::text[], $3::int[], $4, $5::bigint[], $6) as changed");
