import { Tabs as Base } from "@base-ui/react/tabs";
import type { ReactNode } from "react";
import { count } from "./format.ts";
import style from "./tabs.module.css";

export interface TabOf {
  readonly id: string;
  readonly label: string;
  readonly badge?: number | undefined;
  readonly body: ReactNode;
}

/** Tabs whose choice is in the address of the page. */
export function Tabs({
  label,
  value,
  onChange,
  tabs,
}: {
  label: string;
  value: string;
  onChange: (id: string) => void;
  tabs: readonly TabOf[];
}) {
  const shown = tabs.some(({ id }) => id === value) ? value : (tabs[0]?.id ?? "");
  return (
    <Base.Root value={shown} onValueChange={(id) => onChange(String(id))}>
      <Base.List className={style["list"]} aria-label={label}>
        {tabs.map((tab) => (
          <Base.Tab key={tab.id} value={tab.id} className={style["tab"]}>
            {tab.label}
            {tab.badge !== undefined && tab.badge > 0 && <span className={`${style["badge"]} num`}>{count(tab.badge)}</span>}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map((tab) => (
        <Base.Panel key={tab.id} value={tab.id} className={style["panel"]}>
          {tab.body}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
