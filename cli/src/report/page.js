// Selects sizes, sorts, filters, opens rows, and links a kernel's row with its lines in the plots.
'use strict';
document.documentElement.classList.add('js');
for (const section of document.querySelectorAll('section.kernels')) {
  const body = section.querySelector('table.ladder > tbody');
  const size = section.querySelector('select');
  const filter = section.querySelector('input');
  const status = section.querySelector('.status');
  const rows = [...body.querySelectorAll('tr.row')].map((row) => ({ row, more: row.nextElementSibling }));
  const show = () => {
    let shown = 0;
    for (const { row, more } of rows) {
      const fits = (!size.value || row.dataset.size === size.value)
        && row.dataset.kernel.includes(filter.value.trim().toLowerCase());
      const open = row.querySelector('button').getAttribute('aria-expanded') === 'true';
      row.hidden = !fits;
      more.hidden = !fits || !open;
      shown += fits;
    }
    section.classList.toggle('sizes', !size.value);
    status.textContent = `${shown} of ${rows.length} rows`;
  };
  size.addEventListener('change', show);
  filter.addEventListener('input', show);
  for (const { row } of rows) {
    const button = row.querySelector('button');
    button.addEventListener('click', () => {
      button.setAttribute('aria-expanded', button.getAttribute('aria-expanded') !== 'true');
      show();
    });
    const series = [...section.querySelectorAll('.series')].filter((one) => one.dataset.kernel === row.dataset.kernel);
    const emphasize = (on) => series.forEach((one) => one.classList.toggle('on', on));
    for (const event of ['mouseenter', 'focusin']) row.addEventListener(event, () => emphasize(true));
    for (const event of ['mouseleave', 'focusout']) row.addEventListener(event, () => emphasize(false));
  }
  for (const header of section.querySelectorAll('th[data-sort]')) {
    header.querySelector('button').addEventListener('click', () => {
      const up = header.getAttribute('aria-sort') !== (header.dataset.sort === 'up' ? 'ascending' : 'descending')
        ? header.dataset.sort === 'up' : header.dataset.sort !== 'up';
      for (const other of section.querySelectorAll('th[aria-sort]')) other.removeAttribute('aria-sort');
      header.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      const column = header.cellIndex;
      // Rows without a value come last in both directions.
      const key = ({ row }) => {
        const value = row.cells[column].dataset.value;
        return value === undefined || value === '' ? null : Number(value);
      };
      rows.sort((a, b) => {
        const [x, y] = [key(a), key(b)];
        if (x === null || y === null) return (x === null) - (y === null);
        return up ? x - y : y - x;
      });
      for (const { row, more } of rows) body.append(row, more);
    });
  }
  show();
}
