import { kinds as t } from "../text/en.ts";
import { KindTabs } from "./kind-list.tsx";
import { tagKinds } from "./kinds.ts";

/** The tags of devices and of sets. */
export function Tags() {
  return <KindTabs label={t.tagList} kinds={tagKinds} names={t.tagTabs} />;
}
