// What the page says where its script cannot do its work, as in a browser too old to read it. A
// script of its own, in the oldest words there are: it runs whatever becomes of the other.

window.onerror = function (message) {
  var told = document.getElementById('broken');
  told.hidden = false;
  told.textContent =
    'This page is not whole: its script failed in this browser (' +
    message +
    '). It needs Firefox 104, Chrome or Edge 97, Safari 15.4, or newer ones.';
};
