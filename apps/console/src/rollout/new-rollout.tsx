import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { states } from "../text/en.ts";
import { Button, buttonClass } from "../ui/button.tsx";

interface NewRolloutProps {
  /** What the wizard begins with. */
  readonly with?: { readonly q?: string; readonly set?: string };
  readonly primary?: boolean;
  readonly children: ReactNode;
}

/** The way to the wizard; whoever may not create rollouts reads why. */
export function NewRollout({ with: search = {}, primary, children }: NewRolloutProps) {
  const lacking = useLacking(r.rollouts.create);
  const look = primary ? "primary" : undefined;
  if (lacking !== undefined) {
    return (
      <Button look={look} why={states.missing(lacking)}>
        {children}
      </Button>
    );
  }
  return (
    <Link to="/rollouts/new" search={search} className={buttonClass(look)}>
      {children}
    </Link>
  );
}
