import type { RolloutGroupView, RolloutPreview, RolloutView } from "@harrier/contracts";

type Made = Pick<RolloutView, "distributionSetId" | "targetFilterQuery" | "type" | "forcetime" | "weight" | "dynamic">;
type Group = Pick<RolloutGroupView, "name" | "targetPercentage" | "targetFilterQuery" | "dynamic" | "totalTargets">;

/** A name is not needed to count. */
const unnamed = "-";

/** The request that would make the same rollout now. */
export function againBody(rollout: Made, groups: readonly Group[]) {
  const { distributionSetId, targetFilterQuery, type, forcetime, weight, dynamic } = rollout;
  const fixed = groups.filter((group) => !group.dynamic);
  const last = groups.find((group) => group.dynamic);
  // Shares below one percent are those of equal groups of a great number, which are asked for as such.
  const isTiny = fixed.some(({ targetPercentage }) => targetPercentage < 1);
  return {
    name: unnamed,
    distributionSetId,
    targetFilterQuery,
    type,
    weight,
    ...(type === "timeforced" && { forcetime }),
    ...(dynamic && { dynamic, ...(last && { dynamicGroupTemplate: { targetCount: last.targetPercentage } }) }),
    ...(isTiny || fixed.length === 0
      ? { amountGroups: fixed.length }
      : {
          groups: fixed.map(({ name, targetPercentage, targetFilterQuery: q }) => ({
            name,
            targetPercentage,
            ...(q !== "" && { targetFilterQuery: q }),
          })),
        }),
  };
}

/** A rollout as it would be if it were made now; whoever may make none knows the number of devices that match alone. */
export interface Fresh {
  readonly total: number;
  readonly groups?: ReadonlyMap<string, number>;
  /** Devices that match and are of types that the caller may not roll out to, or that the set is not for. */
  readonly outsideScope?: number;
  readonly incompatibleType?: number;
}

export function freshOf({ matched, excluded, groups }: RolloutPreview): Fresh {
  return {
    total: matched,
    groups: new Map(groups.map(({ name, totalTargets }) => [name, totalTargets])),
    outsideScope: excluded.outsideScope,
    incompatibleType: excluded.incompatibleType,
  };
}
