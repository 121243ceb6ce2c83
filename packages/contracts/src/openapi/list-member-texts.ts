/** Descriptions of the members that lists of targets and actions have for consoles (contract console.md §1), as in `memberTexts`. */
export const listMemberTexts: Readonly<Record<string, string>> = {
  lastMessage: "The last message of its history, its first 512 characters; absent where the newest ten entries have none",
  rolloutGroup: "The group of the rollout that has made it; absent for other actions, and where the rollout is gone",
  "Action.distributionSet": "The set that it delivers",
  "Action.target": "The target that it is for",
  "ActionRest.distributionSet": "The set that it delivers",
  "ActionRest.target": "The target that it is for",
  next: "Where the next page begins, to be sent as `after`; only if the request has `total` or `after`, and absent on the last page",
  "OpenAction.rolloutId": "Id of the rollout that has made it; absent for other actions",
  "OpenAction.since": "When it was created, epoch milliseconds",
  "Target.assignedSet": "The assigned distribution set; only in lists with `representation=full`",
  "Target.installedSet": "The installed distribution set; only in lists with `representation=full`",
  "Target.openAction": "The open action that the device is offered first; only in lists with `representation=full`",
  "Target.tags": "Its tags by name, 50 at most; only in lists with `representation=full`",
  totalRelation: "Only with `total=atMost:N`: `gte` if there are more matches than `total`, `eq` if `total` is their number",
};
