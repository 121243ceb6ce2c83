import { kinds as t } from "../text/en.ts";
import { KindTabs } from "./kind-list.tsx";
import { typeKinds } from "./kinds.ts";

/** The types of devices, modules and sets. */
export function Types() {
  return <KindTabs label={t.typeList} kinds={typeKinds} names={t.typeTabs} />;
}
