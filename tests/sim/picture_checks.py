"""What every picture must hold, by the extents that matplotlib's renderer gives."""


def texts_of(figure):
    """All texts that are drawn."""
    found = list(figure.texts)
    for legend in figure.legends:
        found += [*legend.get_texts(), legend.get_title()]
    for axes in visible(figure):
        found += [axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
        for axis in (axes.xaxis, axes.yaxis):
            found += [tick.label1 for tick in axis._update_ticks() if tick.label1.get_visible()]
    return [text for text in found if text.get_visible() and text.get_text().strip()]


def visible(figure):
    return [axes for axes in figure.axes if axes.get_visible()]


def place(axes):
    spec = axes.get_subplotspec()
    return spec.rowspan.start, spec.colspan.start


def series_of(axes):
    """Lines of data; what a limit or an interval draws is none."""
    return [line for line in axes.get_lines() if line.get_linestyle() != ":" and len(set(line.get_xdata())) > 1]


def faults(figure):
    """Each in a line; none where all is well."""
    figure.canvas.draw()
    found = [(text, text.get_window_extent()) for text in texts_of(figure)]
    saved = figure.bbox
    told = []
    for i, (text, box) in enumerate(found):
        if box.x0 < saved.x0 - 1 or box.x1 > saved.x1 + 1 or box.y0 < saved.y0 - 1 or box.y1 > saved.y1 + 1:
            told.append(f"{text.get_text()!r} is cut off")
        inner = box.padded(-1.0)
        told += [f"{text.get_text()!r} runs into {other.get_text()!r}" for other, beside in found[i + 1:] if inner.overlaps(beside.padded(-1.0))]
        for axes in visible(figure):
            is_own = text in axes.texts
            if not is_own and inner.overlaps(axes.get_window_extent().padded(-1.0)):
                told.append(f"{text.get_text()!r} runs into a panel")
    for legend in figure.legends:
        box = legend.get_window_extent()
        if box.x1 > saved.x1 + 1 or box.y0 < saved.y0 - 1:
            told.append("the legend is cut off")
    told += label_faults(figure)
    told += [f"{len(series_of(axes))} lines in a panel" for axes in visible(figure) if len(series_of(axes)) > 8]
    return told


def label_faults(figure):
    """The lowest panel of each column and the first of each row say what their axes are."""
    panels = {place(axes): axes for axes in visible(figure)}
    told = []
    for (row, column), axes in panels.items():
        is_lowest = not any(c == column and r > row for r, c in panels)
        if is_lowest and not axes.get_xlabel():
            told.append("an axis along x has no label")
        if column == 0 and not axes.get_ylabel() and axes.get_yticks().size > 0 and any(t.get_text() for t in axes.get_yticklabels()):
            told.append("an axis upwards has no label")
    return told
